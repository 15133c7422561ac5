"""How a run is begun, and what it comes to."""

import pytest

from governance.formation.contracts import Diagnostic, RunError, RunStatus, Usage
from governance.formation.docresults import MOST_CHARS, Begun, distinct, over_budget, readable, system_of, worked
from governance.formation.errors import ParameterFault
from governance.formation.prompts import load
from governance.formation.scene_desk import SceneDesk
from governance.formation.toolloop import Ended
from governance.formation.tools import CREATE
from recall.canonical import text_digest
from tests.support.clock import START
from tests.support.drafting import creates, l2, setting_of

BEGUN = Begun(prompt=load("scenes@1"), system="S", input_hash="i", model_id="m", at=START)
NOTE = Diagnostic(code="noted")


def a_desk() -> SceneDesk:
    desk = SceneDesk(l2(), START)
    desk.used(CREATE, creates()["arguments"])
    return desk


@pytest.mark.parametrize(
    ("ended", "diagnostics", "status", "changes"),
    [
        (Ended(error=None), (), RunStatus.COMPLETED, 1),
        (Ended(error=None), (NOTE,), RunStatus.PARTIAL, 1),
        (Ended(error=RunError(code="length", problem="Cut.")), (NOTE,), RunStatus.FAILED, 0),
        (Ended(error=RunError(code="cancelled", problem="Called off.")), (), RunStatus.CANCELLED, 0),
    ],
)
def test_changes_are_of_a_run_that_submitted(
    ended: Ended, diagnostics: tuple[Diagnostic, ...], status: RunStatus, changes: int
) -> None:
    result = BEGUN.result(ended, a_desk(), START + 9, *diagnostics)

    assert (result.status, len(result.changes), result.error) == (status, changes, ended.error)


def test_where_it_came_from_is_said_without_words() -> None:
    usage = Usage(input_tokens=1, output_tokens=1)

    made = BEGUN.result(Ended(error=None, calls=3, usage=usage), a_desk(), START + 9).provenance

    assert (made.prompt_id, made.prompt_hash, made.input_hash) == ("scenes@1", text_digest("S"), "i")
    assert (made.calls, made.usage, made.started_at, made.finished_at) == (3, usage, START, START + 9)
    assert made.prompt == load("scenes@1").use


def test_nothing_to_do_is_no_failure_and_nothing_is_asked() -> None:
    assert BEGUN.nothing(START).status is RunStatus.COMPLETED and BEGUN.nothing(START).provenance.calls == 0
    assert BEGUN.nothing(START, error=RunError(code="x", problem="y")).status is RunStatus.FAILED


def test_too_much_is_said_before_it_is_sent() -> None:
    assert over_budget(["x" * 60_000, "中" * (MOST_CHARS - 60_000)]) is None
    error = over_budget(["x" * MOST_CHARS, "x"])
    assert error is not None and error.code == "message-over-budget" and "120001" in error.problem


def test_what_no_request_may_hold_is_refused() -> None:
    for ids, code in ((["a", "a"], "duplicate-id"), (["a", ""], "empty-id")):
        with pytest.raises(ParameterFault) as fault:
            distinct(ids, "memory")
        assert fault.value.code == code
    with pytest.raises(ParameterFault) as fault:
        readable("a\ud800", "memory")
    assert fault.value.code == "bad-content"
    assert system_of(load("scenes@1"), "More.").endswith("\n\nMore.")


async def test_a_driver_without_tools_is_not_asked() -> None:
    class Command:
        id = "command:claude"

    ended = await worked(Command(), BEGUN, "", a_desk(), setting_of("l2"))  # type: ignore[arg-type]  # never asked

    assert ended.error is not None and (ended.error.code, ended.calls) == ("text-only-driver", 0)
