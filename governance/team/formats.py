"""The names of what the team workflow writes and exchanges. Pure.

Names outside of the process are made in one place, and the composition root hands prefix and mark down.
"""

from recall.contracts import Frozen

MARKER = "rpx"  # begins the names of files that a promotion has in the making


class Formats(Frozen, frozen=True, kw_only=True):
    """`prefix`: the program's name; `mark`: of the preview, the last word of names of ours; `folder`: ours in a
    repository."""

    prefix: str
    mark: str
    folder: str

    def document(self, part: str) -> str:
        """The `format` of a document: `<prefix>-promotion-plan@v1`."""
        return f"{self.prefix}-{part}@v1"

    @property
    def memory_root(self) -> str:
        """Where a repository keeps its memory, relative to its top."""
        return f"{self.folder}/memory"

    @property
    def policy(self) -> str:
        """Of the text that may stand in a promoted file."""
        return f"sanitize-{self.mark}@1"

    @property
    def begin(self) -> str:
        """The line before our block in a file of the user's."""
        return f"<!-- {self.prefix}:begin v1 -->"

    @property
    def end(self) -> str:
        return f"<!-- {self.prefix}:end -->"

    def projected(self, skill: str) -> str:
        """The folder of a skill in a place of an agent product."""
        return f"{skill}-{self.mark}"
