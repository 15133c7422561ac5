"""How a run of scenes, persona, doctrine or skills is begun, and what it comes to: shared by all (formation.md 3).

A request that nothing can be made of is refused before any call. What goes wrong later is in the result, and then there
are no changes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from governance.formation.contracts import (
    Cancel,
    Diagnostic,
    DocumentChange,
    DocumentsResult,
    DocumentVersion,
    ModelDriver,
    Provenance,
    RunError,
    RunStatus,
)
from governance.formation.errors import ParameterFault
from governance.formation.prompts import Prompt
from governance.formation.toolloop import CANCELLED, Desk, Ended, Opening, Pace, run
from recall.canonical import text_digest
from recall.contracts import Millis

ALGORITHM = "documents_pre_v1"
MOST_CHARS = 120_000  # of what a run is given
OVER_BUDGET, EMPTY, TEXT_ONLY = "message-over-budget", "empty", "text-only-driver"
_TEXT_DRIVERS = frozenset({"command"})


class Setting(Protocol):
    """What a run is made with. `now`: epoch ms, asked at its beginning, between calls and at its end."""

    @property
    def prompt(self) -> Prompt: ...

    @property
    def now(self) -> Callable[[], Millis]: ...

    @property
    def cancel(self) -> Cancel | None: ...


class Work(Desk, Protocol):
    """A desk, and what came of the work at it."""

    @property
    def changes(self) -> tuple[DocumentChange, ...]: ...

    @property
    def read_set(self) -> tuple[DocumentVersion, ...]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A run that was begun. `system`: all that the model is told before the material. `input_hash`: of everything that
    the run is made of."""

    prompt: Prompt
    system: str
    input_hash: str
    model_id: str
    at: Millis
    diagnostics: tuple[Diagnostic, ...] = ()

    def provenance(self, ended: Ended, at: Millis) -> Provenance:
        return Provenance(
            algorithm_version=ALGORITHM,
            model_id=self.model_id,
            prompt_id=f"{self.prompt.id}@{self.prompt.version}",
            prompt_hash=text_digest(self.system),
            input_hash=self.input_hash,
            calls=ended.calls,
            usage=ended.usage,
            started_at=self.at,
            finished_at=at,
            prompt=self.prompt.use,
        )

    def nothing(self, at: Millis, *diagnostics: Diagnostic, error: RunError | None = None) -> DocumentsResult:
        """There was nothing to call a model for, or no way to."""
        return DocumentsResult(
            status=RunStatus.COMPLETED if error is None else RunStatus.FAILED,
            provenance=self.provenance(Ended(error=error), at),
            diagnostics=(*self.diagnostics, *diagnostics),
            error=error,
        )

    def result(self, ended: Ended, work: Work, at: Millis, *diagnostics: Diagnostic) -> DocumentsResult:
        """What the run comes to: its changes if it submitted, else none. A diagnostic makes it `partial`."""
        noted = (*self.diagnostics, *diagnostics)
        status = RunStatus.PARTIAL if noted else RunStatus.COMPLETED
        if ended.error is not None:
            status = RunStatus.CANCELLED if ended.error.code == CANCELLED else RunStatus.FAILED
        return DocumentsResult(
            status=status,
            provenance=self.provenance(ended, at),
            changes=work.changes if ended.error is None else (),
            read_set=work.read_set,
            diagnostics=noted,
            error=ended.error,
        )


def system_of(prompt: Prompt, addition: str) -> str:
    """The prompt with what a strategy adds to it."""
    return f"{prompt.text}\n\n{addition}" if addition else prompt.text


async def worked(driver: ModelDriver, begun: Begun, material: str, desk: Desk, setting: Setting) -> Ended:
    """Let the model work at the desk; a driver that has no tools is not asked."""
    if driver.id.partition(":")[0] in _TEXT_DRIVERS:
        problem = "The command driver answers with text alone, and documents are made with tools."
        return Ended(error=RunError(code=TEXT_ONLY, problem=problem))
    pace = Pace(now=setting.now, cancel=setting.cancel)
    return await run(driver, Opening(system=begun.system, material=material), desk, pace)


def over_budget(texts: Iterable[str]) -> RunError | None:
    """Why a run with these texts is not begun."""
    size = sum(map(len, texts))
    if size <= MOST_CHARS:
        return None
    problem = f"What is to be looked at has {size} characters, and a run takes at most {MOST_CHARS}: give less at once."
    return RunError(code=OVER_BUDGET, problem=problem)


def distinct(ids: Sequence[str], what: str) -> None:
    """Raises ParameterFault `duplicate-id` where two have one id, `empty-id` where one has none."""
    if not all(ids):
        raise ParameterFault("empty-id", f"A {what} has no id.", "Give every one of them its own.")
    if len(set(ids)) < len(ids):
        raise ParameterFault("duplicate-id", f"Two {what}s have one id.", "Give each of them once.")


def readable(text: str, what: str) -> None:
    """Raises ParameterFault `bad-content` for a text that cannot be written down."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"The text of a {what} holds half of a character."
        raise ParameterFault("bad-content", problem, "Give it as whole characters.") from error
