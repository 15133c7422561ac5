"""Sessions go through the real host; what comes out is the same every time, and looks at nothing later."""

import asyncio
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import pytest

from host.demo.recording import SHIPPED
from host.errors import RemoraError
from host.evaluation.decisions import Options, Played, decisions, played_in, run
from host.evaluation.sessions import Recorded, Recording, load
from host.policy import Policy
from recall.analyzer import distinct
from recall.background import Background
from recall.confidence import ConfidencePolicy
from recall.contracts import Status
from tests.support.labelled import LESSON_ID, a_failure, a_folder, a_recording, a_stored, an_event
from tests.support.world import FAILURE

replace = msgspec.structs.replace
BEFORE, AFTER = 40, 30  # events of the shipped session around the failing command


@cache
def a_long_one() -> Recording:
    """The shipped session, in the middle of which a command fails in the way that a memory tells of."""
    whole, made = load(SHIPPED), a_failure()
    step = whole.events[BEFORE - 1].step
    failing = [replace(event, step=step + event.step) for event in made.events[2:6]]
    rest = [replace(event, step=step + 2 + event.step) for event in whole.events[BEFORE : BEFORE + AFTER]]
    events = (*whole.events[:BEFORE], *failing, *rest)
    numbered = tuple(replace(event, seq=seq) for seq, event in enumerate(events, start=1))
    lesson = replace(made.memories[0], workspace=whole.labels.workspace)
    return replace(whole, events=numbered, memories=(*whole.memories, lesson))


async def test_what_a_failing_command_needs_is_handed_over_with_its_result() -> None:
    played = await decisions(a_failure())

    (handed,) = played.handed
    assert handed.row.seq == 5 and handed.row.memories == (LESSON_ID,) and handed.row.session == "made"
    assert handed.row.bytes == len(handed.rendered.encode()) and "pg-fixture" in handed.rendered
    assert played.rows == (handed.row,)


async def test_every_pass_is_counted_and_every_silence_has_its_reason() -> None:
    played = await decisions(a_failure())

    assert played.passes == sum(played.silences.values()) + 1
    assert not played.shortfalls and not played.left_out
    assert list(played.silences.values()) == sorted(played.silences.values(), reverse=True)


async def test_of_parallel_calls_the_last_result_carries_the_packet() -> None:
    first, *rest = a_failure().events[3:5]
    other = replace(first, seq=5, text="ls reports", call_id="c3")
    answer = an_event(7, "tool/result", "weekly.md", tool="shell", ok=True, call_id="c3")
    events = [*a_failure().events[:4], other, replace(rest[0], seq=6), answer]

    played = await decisions(a_recording(events, a_failure().memories))

    assert [row.seq for row in played.rows] == [7]


async def test_a_memory_has_the_id_that_the_recording_gives_it() -> None:
    made = a_failure()
    named = [replace(one, id="lesson") if one.id == LESSON_ID else one for one in made.memories]

    played = await decisions(a_recording(made.events, named))

    assert [row.memories for row in played.rows] == [("lesson",)]


@pytest.mark.promise("decisions-repeat")
@pytest.mark.parametrize("name", [".", "/srv/shop", "shop/", "a//b", "../shop"])
async def test_a_workspace_may_be_called_anything(name: str) -> None:
    """The memories lay in one that the events never came to: nothing was found, and nothing said so."""
    made = a_failure()
    memories = tuple(replace(memory, workspace=name) for memory in made.memories[:1])
    labels = replace(made.labels, workspace=name, never_reason={})

    played = await decisions(replace(made, memories=memories, labels=labels))

    assert [row.memories for row in played.rows] == [(LESSON_ID,)]


async def test_the_order_of_memories_and_another_name_change_nothing() -> None:
    made = a_failure()
    turned = replace(made, memories=made.memories[::-1], name="renamed")

    rows = (await decisions(made)).rows

    assert rows and [replace(row, session="made") for row in (await decisions(turned)).rows] == list(rows)


async def test_another_policy_and_another_background_decide_otherwise() -> None:
    deaf = Policy(confidence=ConfidencePolicy(theta=1000.0))
    common = Background(dict.fromkeys(distinct(FAILURE), 900), 1000)

    assert not (await decisions(a_failure(), Options(policy=deaf))).rows
    assert not (await decisions(a_failure(), Options(background=common))).rows
    assert (await decisions(a_failure(), Options(background=Background()))).rows


async def test_what_was_replaced_or_is_of_another_workspace_stays_away() -> None:
    made = a_failure()
    without = replace(made, memories=tuple(one for one in made.memories if one.id != LESSON_ID))

    assert not (await decisions(without)).rows
    revived = replace(without, memories=tuple(replace(one, status=Status.ACTIVE) for one in without.memories))
    assert (await decisions(revived)).rows


async def test_a_text_that_looks_like_a_marker_is_stored_all_the_same() -> None:
    made = a_failure()
    marker = a_stored("mem_" + "9" * 32, f"<!-- memory:{LESSON_ID} -->\n# Not a record")

    assert (await decisions(replace(made, memories=(*made.memories, marker)))).rows


@pytest.mark.promise("decisions-repeat")
def test_results_come_in_the_order_of_the_folders_however_many_processes(tmp_path: Path) -> None:
    long = a_failure()
    more = tuple(an_event(seq, "assistant/message", "Still there.", step=seq) for seq in range(10, 30))
    folders = [
        a_folder(replace(long, name="a"), tmp_path),
        a_folder(replace(long, name="b", events=(*long.events, *more)), tmp_path),
    ]
    heard: list[int] = []

    alone = run(folders, Options())
    together = run(folders, Options(), jobs=2, hear=heard.append)

    assert [one.session for one in alone] == ["a", "b"] and alone == together
    assert heard == [1, 2]


def test_a_folder_that_is_none_ends_the_run(tmp_path: Path) -> None:
    good, bad = a_folder(a_failure(), tmp_path), a_folder(replace(a_failure(), name="bad"), tmp_path)
    (bad / "events.jsonl").write_text("{")

    for jobs in (1, 2):
        with pytest.raises(RemoraError, match=r"events\.jsonl, line 1"):
            run([good, bad], Options(), jobs=jobs)
    assert played_in(good, Options()).rows


async def test_a_memory_that_no_file_can_hold_is_said_with_its_session() -> None:
    made = a_failure()
    first, *others = made.memories

    with pytest.raises(RemoraError, match=r"^made: The memory mem_0+1 cannot be written: .*measure-the-decision"):
        await decisions(replace(made, memories=(replace(first, text="a\0b"), *others)))


# ------------------------------------------------------------------------------------- nothing of what comes later


@pytest.fixture(scope="module")
def whole() -> Played:
    """The long session as it was, replayed once."""
    return asyncio.run(decisions(a_long_one()))


def until(played: Played, cut: int) -> bytes:
    return msgspec.json.encode([row for row in played.rows if row.seq <= cut])


async def kept(events: Sequence[Recorded], cut: int) -> bytes:
    return until(await decisions(replace(a_long_one(), events=tuple(events))), cut)


@pytest.mark.promise("nothing-of-the-future")
@pytest.mark.parametrize("cut", [20, BEFORE + 2, BEFORE + 3, BEFORE + 12])
async def test_nothing_is_read_from_after_the_decided_event(whole: Played, cut: int) -> None:
    """The texts of all later events are other memories' words, and their kinds are mixed: what was handed over up to
    there stays the same to the byte. So it does when there are no later events."""
    events, chance = a_long_one().events, random.Random(cut)
    expected = until(whole, cut)
    later = list(events[cut:])
    mixed = chance.sample(later, len(later))
    poisoned = [
        replace(
            event,
            text=chance.choice(a_long_one().memories).text,
            **{field: getattr(other, field) for field in ("type", "source", "tool", "ok", "call_id")},
        )
        for event, other in zip(later, mixed, strict=True)
    ]

    assert (LESSON_ID.encode() in expected) == (cut >= BEFORE + 3), "the cuts lie before and after what is handed over"
    assert await kept([*events[:cut], *poisoned], cut) == expected
    assert await kept(events[:cut], cut) == expected
