"""The names of the documents that formation exchanges with others. Pure.

Names outside of the process are made in one place, and the composition root hands the prefix down.
"""

from recall.contracts import Frozen


class Formats(Frozen, frozen=True, kw_only=True):
    """`prefix`: the program's name."""

    prefix: str

    @property
    def continuation(self) -> str:
        """Where the next window begins."""
        return f"{self.prefix}-continuation@v1"

    @property
    def task(self) -> str:
        """A window that the running agent is asked to note."""
        return f"{self.prefix}-note-task@v1"

    @property
    def batch(self) -> str:
        """What the agent noted."""
        return f"{self.prefix}-note-batch@v1"

    @property
    def document_task(self) -> str:
        """Scenes, a doctrine or skills that the running agent is asked for."""
        return f"{self.prefix}-document-task@v1"

    @property
    def document_batch(self) -> str:
        """What the agent made of them."""
        return f"{self.prefix}-document-batch@v1"
