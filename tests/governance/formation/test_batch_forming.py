"""A window's way through the model: two calls at most, the gate around each, and what becomes of bad answers."""

from collections.abc import Sequence
from typing import Any

import pytest

from governance.formation.batch import _operation
from governance.formation.batch_commit import Batched
from governance.formation.batch_forming import BatchForming
from governance.formation.batch_windows import Window, windows
from governance.formation.contracts import (
    Admission,
    Barrier,
    Door,
    FailureClass,
    KnownRecord,
    RangeStatus,
    Usage,
)
from governance.formation.decide import STORE, Decided, Verdict
from governance.formation.errors import ModelError, ModelErrorKind, ParameterFault
from governance.formation.forming import GateChanged
from governance.formation.prompts import PromptPolicy
from host.models.scripted import Step
from tests.support.batching import (
    KEY,
    WS,
    Bench,
    a_decision,
    a_memory_said,
    a_segment,
    a_snapshot,
    a_text,
    chose,
    said,
)

TEXTS = [a_text(1, "We ship on Thursdays."), a_text(2), a_text(3, "The retry limit is 20.")]
SHIP = a_memory_said("Releases go out on Thursdays.", "m-1")
LIMIT = a_memory_said("The retry limit is 20.", "m-3")
OLD = KnownRecord(memory_id="mem_old", text="The retry limit is 10.", guarded=False)


def a_window() -> Window:
    (found,) = windows(TEXTS, (1, 3), WS)
    return found


def forming(bench: Bench, window: Window | None = None) -> BatchForming:
    batch = bench.batch
    window = window or a_window()
    snapshot = a_snapshot(3)
    return BatchForming(batch._ports, batch._policy, snapshot, _operation(snapshot, window), window)


async def formed(*steps: Step, known: Sequence[KnownRecord] = (OLD,), scene: str = "") -> tuple[Bench, Batched]:
    bench = Bench(steps=steps)
    bench.likeness.records = [(KEY, one) for one in known]
    return bench, await forming(bench).formed(scene)


async def test_one_call_extracts_and_one_more_decides_about_what_has_candidates() -> None:
    steps = [said(a_segment(SHIP, LIMIT)), chose(a_decision(0, "update", "mem_old"))]
    bench, found = await formed(*steps)
    assert found.calls == 2
    assert [one.decided for one in found.found] == [STORE, Decided(verdict=Verdict.UPDATE, targets=("mem_old",))]
    assert '"memory":0' in bench.shown(1) and '"memory":1' not in bench.shown(1)
    assert len(bench.gate.asked) == 4


async def test_without_candidates_nobody_is_asked_to_decide() -> None:
    _, found = await formed(said(a_segment(SHIP, LIMIT)), known=())
    assert (found.calls, [one.decided for one in found.found]) == (1, [STORE, STORE])


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Step(error=ModelErrorKind.TIMEOUT), "no-decisions timeout"),
        (Step(error=ModelErrorKind.UNAVAILABLE), "no-decisions unavailable"),
        (Step(text="I would keep them all."), "no-decisions schema"),
        (chose(finish="content_filter"), "no-decisions content_filter"),
    ],
)
async def test_a_decision_that_cannot_be_had_stores_everything(step: Step, why: str) -> None:
    _, found = await formed(said(a_segment(SHIP, LIMIT)), step)
    assert [one.decided for one in found.found] == [STORE, STORE]
    assert why in found.logged
    assert (found.fault, found.calls) == (None, 2)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (Step(text="BANANA"), FailureClass.SCHEMA),
        (Step(text="", finish="length"), FailureClass.LENGTH),
        (said(finish="content_filter"), FailureClass.SCHEMA),
        (Step(error=ModelErrorKind.PROTOCOL), FailureClass.SCHEMA),
    ],
)
async def test_an_answer_that_cannot_be_read_is_a_fault_of_the_window(step: Step, fault: FailureClass) -> None:
    _, found = await formed(step)
    assert (found.fault, found.found, found.calls) == (fault, (), 1)
    assert found.generation is not None and found.generation.status == "failed"


@pytest.mark.parametrize("kind", ["unavailable", "rate-limited", "timeout", "configuration"])
async def test_a_fault_of_the_provider_is_none_of_the_window(kind: str) -> None:
    with pytest.raises(ModelError) as error:
        await formed(Step(error=ModelErrorKind(kind)))
    assert error.value.kind == kind


async def test_the_whole_elements_of_a_cut_answer_are_taken() -> None:
    whole = '[{"scene_name": "s", "message_ids": ["m-1"], "memories": [{"content": "Releases go out on Thursdays.",'
    text = whole + ' "type": "work_fact", "priority": 70, "source_message_ids": ["m-1"]}]}, {"scene_name": "t", "mem'
    _, found = await formed(Step(text=text, finish="length"))
    assert [one.proposed.content for one in found.found] == ["Releases go out on Thursdays."]
    assert (found.fault, found.done) == (FailureClass.LENGTH, frozenset({"s-1#1"}))
    assert found.generation is not None and found.generation.status == "partial"


async def test_a_cut_answer_that_speaks_of_every_message_is_a_whole_one() -> None:
    step = said(a_segment(SHIP, messages=["m-1", "m-2", "m-3"]), finish="length")
    _, found = await formed(step)
    assert (found.fault, found.done, len(found.found)) == (None, frozenset(), 1)


async def test_a_run_names_prompt_model_and_messages_and_no_words() -> None:
    steps = [said(a_segment(LIMIT), usage=Usage(input_tokens=90, output_tokens=5)), chose(a_decision(0, "store"))]
    _, found = await formed(*steps)
    run = found.generation
    assert run is not None
    assert (run.prompt.id, run.prompt.version, len(run.prompt.sha256)) == ("batch-extract", 1, 64)
    assert (run.model_id, run.input_refs, run.usage) == ("scripted:demo", ("m-1", "m-2", "m-3"), None)
    assert "Thursdays" not in repr(run)


async def test_tokens_are_summed_when_every_call_reported_them() -> None:
    usage = Usage(input_tokens=90, output_tokens=5)
    steps = [said(a_segment(LIMIT), usage=usage), chose(a_decision(0, "store"), usage=usage)]
    _, found = await formed(*steps)
    assert found.generation is not None
    assert found.generation.usage == Usage(input_tokens=180, output_tokens=10)


async def test_the_scene_goes_on_from_window_to_window() -> None:
    bench = Bench(steps=[said(a_segment(SHIP, scene="shipping")), said()])
    first = forming(bench)
    await first.formed("planning")
    assert '"scene_name":"planning"' in bench.shown(0) and first.scene == "shipping"
    second = forming(bench)
    await second.formed(first.scene)
    assert second.scene == "shipping"


async def test_with_dedupe_off_nothing_is_compared() -> None:
    bench = Bench(steps=[said(a_segment(LIMIT))])
    bench.policy = type(bench.policy)(dedupe=False)
    bench.likeness.records = [(KEY, OLD)]
    found = await forming(bench).formed("")
    assert (found.calls, bench.likeness.asked) == (1, [])


@pytest.mark.parametrize("call", [0, 1, 2, 3])
async def test_a_gate_that_closes_ends_it_before_and_after_each_call(call: int) -> None:
    bench = Bench(steps=[said(a_segment(LIMIT)), chose(a_decision(0, "store"))])
    bench.likeness.records = [(KEY, OLD)]
    bench.answers = [*[Admission(door=Door.OPEN)] * call, Admission(door=Door.CLOSED, reason="workspace-off")]
    with pytest.raises(GateChanged):
        await forming(bench).formed("")
    assert len(bench.driver.requests) == (call + 1) // 2


async def test_a_span_of_the_window_that_is_denied_meanwhile_ends_it() -> None:
    bench = Bench(steps=[said()])
    barrier = Barrier(session_id="s-1", from_seq=3, through_seq=9)
    bench.answers = [Admission(door=Door.OPEN, denied=(barrier,))]
    with pytest.raises(GateChanged):
        await forming(bench).formed("")
    assert bench.driver.requests == []


async def test_a_window_that_is_denied_or_empty_asks_nobody() -> None:
    bench = Bench()
    denied = Window(from_seq=1, through_seq=3, workspace_key=WS, denied=True)
    assert await forming(bench, denied).formed("") == Batched(status=RangeStatus.DENIED)
    empty = Window(from_seq=1, through_seq=3, workspace_key=WS)
    assert await forming(bench, empty).formed("") == Batched()


async def test_wishes_that_no_prompt_takes_are_said_to_be_so() -> None:
    bench = Bench(steps=[said()])
    ports: Any = bench.batch._ports
    too_long = PromptPolicy(user={"batch-extract": "x" * 9_000})
    changed = type(ports)(**{name: getattr(ports, name) for name in ports.__slots__} | {"prompts": too_long})
    snapshot, window = a_snapshot(3), a_window()
    with pytest.raises(ParameterFault):
        await BatchForming(changed, bench.policy, snapshot, _operation(snapshot, window), window).formed("")
