"""The source of episodes: exact matches of what fails, never of the same session, and the line in question."""

from typing import Any

import msgspec
import pytest

from recall.acts import act_of
from recall.contracts import Candidate, Cue, MemoryKind, Origin, SegmentKind, SourceName
from recall.sources.episodic import SCOPES, episodic_source
from tests.support.builders import SESSION, a_candidate, a_cue, a_memory_id, a_scope
from tests.support.fakes import FakeIndex

SEAL = "`make seal` failed with SealBrokenError, 2 times: ended in success after `rm build/seal.stamp`."
DOCS = "`make docs` failed with a KeyError: ended in failure."
TESTS = "`pytest -q` failed with an AssertionError: ended in success after `edit src/a.py`."
SHIP = "`make ship` failed: ended in success after `make login`, `make seal`."
WHOLE = "\n".join((SEAL, DOCS, TESTS, SHIP, "Changed: …/src/a.py, b.py.", "Ended: partial."))


def an_episode(text: str = WHOLE, number: int = 1, session: str = "old", **fields: Any) -> Candidate:
    given = {
        "memory_id": a_memory_id(number),
        "kind": MemoryKind.EPISODIC,
        "origin": Origin.EXTRACTED,
        "tags": ("episode", "partial", f"session:ref-{session}"),
    } | fields
    return a_candidate(text, **given)


def failing(text: str = "error", call: str = "make other", errors: tuple[str, ...] = ()) -> Cue:
    act = act_of("shell", call)
    return a_cue(text, segment_kind=SegmentKind.RESULT, errors=errors, call=act)


async def found(cue: Cue, *episodes: Candidate) -> list[Candidate]:
    source = episodic_source(lambda session: f"ref-{session}")
    return list(await source(cue, FakeIndex(episodes or (an_episode(),))))


async def told(cue: Cue, *episodes: Candidate) -> list[str]:
    return [one.payload for one in await found(cue, *episodes)]


async def test_an_error_of_this_project_is_enough_and_its_line_alone_is_given() -> None:
    (only,) = await found(failing("SealBrokenError: stamp", errors=("sealbrokenerror",)))

    assert only.payload == f"Last time {SEAL}"
    assert (only.source, only.id, only.score, only.confidence) == (
        *(SourceName.EPISODIC, f"episodic:{a_memory_id(1)}", 3.0, 0.5),
    )
    assert only.record_digest == an_episode().record_digest


async def test_a_code_of_a_compiler_needs_the_command_or_a_file_beside_it() -> None:
    text = "`npx tsc -b` failed with TS2307: ended in success after `edit src/a.ts`.\nChanged: src/a.ts."
    alone, command = failing("TS2307", "npm run x", ("ts2307",)), failing("TS2307", "npx tsc -b", ("ts2307",))

    assert await told(alone, an_episode(text)) == []
    assert len(await told(command, an_episode(text))) == 1
    assert len(await told(failing("/w/src/a.ts(3): TS2307", "npm run x", ("ts2307",)), an_episode(text))) == 1


async def test_the_command_adds_to_the_error() -> None:
    (only,) = await found(failing("SealBrokenError: stamp", "cd /x && make seal", ("sealbrokenerror",)))

    assert (only.score, only.confidence) == (6.0, 1.0)


async def test_a_command_of_this_project_speaks_where_it_is_known_what_helped() -> None:
    assert await told(failing("exit 2", "make ship")) == [f"Last time {SHIP}"]
    assert await told(failing("exit 2", "make docs")) == []
    assert await told(failing("KeyError: x", "make docs")) == [f"Last time {DOCS}"]


async def test_an_error_of_the_system_needs_the_command_beside_it() -> None:
    text = "`make up` failed with an ECONNREFUSED: ended in success after `docker compose up -d db`."

    assert await told(failing("connect ECONNREFUSED", "make up"), an_episode(text)) == [f"Last time {text}"]
    assert await told(failing("connect ECONNREFUSED", "make down"), an_episode(text)) == []


async def test_a_test_run_that_fails_again_is_no_news() -> None:
    started = TESTS.replace("edit src/a.py", "docker compose up -d db")

    assert await told(failing("AssertionError: 1 != 2", "pytest -q")) == []
    assert await told(failing("AssertionError: 1 != 2", "pytest -q"), an_episode(started)) == [f"Last time {started}"]
    assert await told(failing("AssertionError in /srv/app/src/a.py", "pytest -q")) == [f"Last time {TESTS}"]
    assert await told(failing("exit 1", "pytest -q"), an_episode(started)) == []
    assert await told(failing("AssertionError: 1 != 2", "pytest -q tests"), an_episode(started)) == []


async def test_a_test_run_that_nobody_mended_says_nothing_and_an_edit_is_no_remedy_for_another() -> None:
    failed = TESTS.replace("success after `edit src/a.py`", "failure despite `docker compose up`")
    edited = TESTS.replace("edit src/a.py", "sed -i s/a/b/ src/a.py")
    for text in (failed, edited):
        assert await told(failing("AssertionError in b.py", "pytest -q"), an_episode(f"{text}\nChanged: c.py.")) == []


async def test_a_file_whose_change_ended_it_speaks_with_the_command_or_the_sort_of_error() -> None:
    text = "`make up` failed with a KeyError: ended in success after `edit …/billing/tax.py`, `edit b.py`."

    assert await told(failing("KeyError in src/billing/tax.py:3", "make other"), an_episode(text)) != []
    assert await told(failing("src/billing/tax.py:3: wrong", "make up"), an_episode(text)) != []
    assert await told(failing("src/billing/tax.py:3: wrong", "make other"), an_episode(text)) == []
    assert await told(failing("KeyError in other/tax.py:3", "make other"), an_episode(text)) == []
    assert await told(failing("KeyError in b.py:3", "make other"), an_episode(text)) == []


async def test_a_sort_of_error_says_nothing_by_itself_and_neither_does_a_file() -> None:
    assert await told(failing("KeyError: x", "make other")) == []
    assert await told(failing("src/a.py:3: something", "make other")) == []
    assert await told(failing("KeyError: x in /srv/app/src/a.py", "make other")) == []


@pytest.mark.parametrize("text", ["make sealing", "make", "sealbroken", "Seal Broken Error", "make seals"])
async def test_what_is_only_like_it_does_not_match(text: str) -> None:
    assert await told(failing(text, text, ())) == []


async def test_a_call_about_to_be_made_again_is_told_what_helped() -> None:
    assert await told(a_cue("make ship", segment_kind=SegmentKind.CALL, call="make ship")) == [f"Last time {SHIP}"]
    assert await told(a_cue("make docs", segment_kind=SegmentKind.CALL, call="make docs")) == []
    assert await told(a_cue("x", segment_kind=SegmentKind.CALL)) == []


async def test_a_prompt_is_answered_when_it_names_the_error_and_asks_or_complains() -> None:
    assert await told(a_cue("I get SealBrokenError again")) == [f"Last time {SEAL}"]
    assert await told(a_cue("又出现 SealBrokenError 了")) == [f"Last time {SEAL}"]
    assert await told(a_cue("What is SealBrokenError?", question=True)) == [f"Last time {SEAL}"]
    assert await told(a_cue("Rename SealBrokenError to StampError")) == []
    assert await told(a_cue("make seal fails again")) == []


async def test_a_reply_and_a_seed_are_told_nothing() -> None:
    assert await told(a_cue("SealBrokenError again", segment_kind=SegmentKind.REPLY)) == []
    assert await told(a_cue("", segment_kind=None)) == []


async def test_no_session_is_told_its_own_past() -> None:
    cue = failing("SealBrokenError", errors=("sealbrokenerror",))

    assert await told(cue, an_episode(session=SESSION)) == []
    assert len(await told(cue, an_episode(session=SESSION), an_episode(number=2))) == 1


async def test_the_closest_comes_first_and_of_equal_ones_the_latest() -> None:
    cue = failing("SealBrokenError", "make seal", ("sealbrokenerror",))
    other = SEAL.replace("make seal", "make x")
    episodes = (
        an_episode(other, 1, created_at=9),
        an_episode(SEAL, 2, created_at=1),
        an_episode(SEAL, 3, created_at=2),
    )

    assert [one.memory_id for one in await found(cue, *episodes)] == [a_memory_id(3), a_memory_id(2), a_memory_id(1)]
    assert len(await source_of(cue, 2, *episodes)) == 2


async def source_of(cue: Cue, limit: int, *episodes: Candidate) -> list[Candidate]:
    return await found(msgspec.structs.replace(cue, limit=limit), *episodes)


async def test_a_persons_search_finds_them_by_their_words() -> None:
    (hit,) = await found(a_cue("seal stamp", segment_kind=None))

    assert hit.payload == WHOLE and hit.score == hit.confidence == 1.0
    assert await found(a_cue("seal unrelated words here", segment_kind=None)) == []


async def test_episodes_are_read_once_a_version_and_a_workspace() -> None:
    source, index = episodic_source(str), FakeIndex((an_episode(),))
    cue = failing("SealBrokenError", errors=("sealbrokenerror",))
    for _ in range(3):
        await source(cue, index)
    asked = index.asked
    for number in range(SCOPES + 1):
        await source(a_cue("x fails", scope=a_scope(workspace=f"ws_{number}")), index)
    await source(cue, index)

    assert (asked, index.asked) == (1, 1 + SCOPES + 1 + 1)
    assert await source(a_cue("hello"), index) == () and index.asked == 1 + SCOPES + 2


async def test_text_that_is_none_of_ours_says_nothing_and_takes_no_time() -> None:
    for text in (
        "",
        "`" * 5_000,
        "`make seal` failed with ",
        "a" * 50_000,
        "`a` failed: ended in success after `" * 999,
    ):
        assert await told(failing("SealBrokenError", "make seal", ("sealbrokenerror",)), an_episode(text)) == []
