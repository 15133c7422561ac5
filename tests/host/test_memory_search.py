"""`memory.search` over real files: what is found, how it is scored, and what is said of what was left out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from host.memories import MAX_LIST
from host.service import Service
from recall.associate import Arm
from recall.contracts import Candidate, Cue, Flag, Index, Origin, Source, SourceName, Status
from recall.errors import ArmUnavailable
from recall.fallback import Breaker
from tests.support.asking import Asking
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.remembering import POISON, break_index, found


async def test_a_search_gives_the_best_first_no_more_than_asked_and_says_why_when_asked(
    remora: Asking, folder: str
) -> None:
    best = await remora.world.remember("Deploys go through the heron gateway.")
    await remora.world.remember("The gateway has a new owner.")

    plain = await remora.ask("memory.search", query="heron gateway?", workspace=folder)
    why = await remora.ask("memory.search", query="heron gateway?", workspace=folder, limit=1, explain=True)

    assert [len(answer["hits"]) for answer in (plain, why)] == [2, 1]
    assert plain["hits"][0]["memoryId"] == why["hits"][0]["memoryId"] == best
    assert plain["hits"][0]["score"] > plain["hits"][1]["score"]
    assert "terms" not in plain["hits"][0]
    assert sorted(why["hits"][0]["terms"]) == ["gateway", "heron"]
    assert (plain["degraded"], plain["arms"][0]["name"]) == (False, "lexical")


def with_arm(remora: Asking, name: str, source: Source) -> None:
    """One more source behind the service."""
    parts = remora.world.parts
    host = replace(parts.host, arms=(*parts.host.arms, Arm(name, source, Breaker())))
    remora.service = Service(replace(parts, host=host), remora.shell)


async def as_engine(cue: Cue, index: Index) -> Sequence[Candidate]:
    """Another source, with a scale of its own, that likes best what the words like least."""
    same = await index.match(cue.terms, cue.scope, cue.limit)
    scores = [0.5 + 0.1 * place for place, _ in enumerate(same)]
    changes = [{"source": SourceName.ENGINE, "score": score, "confidence": score} for score in scores]
    return [msgspec.structs.replace(one, **change) for one, change in zip(same, changes, strict=True)]


async def test_what_two_sources_propose_is_listed_once_and_each_says_its_part(remora: Asking, folder: str) -> None:
    for text in ("Deploys go through the heron gateway.", "The gateway has a new owner."):
        await remora.world.remember(text)
    alone = await remora.ask("memory.search", query="heron gateway", workspace=folder, explain=True)
    with_arm(remora, "engine", as_engine)

    both = await remora.ask("memory.search", query="heron gateway", workspace=folder, explain=True)

    assert [hit["memoryId"] for hit in both["hits"]] == [hit["memoryId"] for hit in alone["hits"]]
    assert [set(hit["scores"]) for hit in both["hits"]] == [{"lexical", "engine"}] * 2
    assert [hit["scores"]["lexical"] for hit in both["hits"]] == [hit["scores"]["lexical"] for hit in alone["hits"]]
    assert [hit["confidences"]["engine"] for hit in both["hits"]] == pytest.approx([0.5, 0.6])
    assert [hit["source"] for hit in both["hits"]] == ["lexical"] * 2
    weight = both["explain"]["fusion"]["lexical"]
    assert both["hits"][0]["score"] == pytest.approx(weight + (1 - weight) * 5 / 6)  # best by words, not by meaning
    assert all(0 <= hit["score"] <= 1 for hit in both["hits"])
    assert [arm["name"] for arm in both["arms"]] == ["lexical", "seed", "procedural", "episodic", "semantic", "engine"]


async def test_what_one_source_alone_proposes_is_found_too(remora: Asking, folder: str) -> None:
    worded = await remora.world.remember("Deploys go through the heron gateway.")
    meant = await remora.world.remember("Releases leave by the bird's door.")

    async def meaning(cue: Cue, index: Index) -> Sequence[Candidate]:
        (one,) = await index.by_id([meant], cue.scope)
        return [msgspec.structs.replace(one, source=SourceName.ENGINE, score=0.9, confidence=0.9)]

    with_arm(remora, "engine", meaning)

    assert await found(remora, "heron gateway", folder) == [worded, meant]


async def test_what_is_merely_nearest_is_no_answer(remora: Asking, folder: str) -> None:
    meant = await remora.world.remember("Releases leave by the bird's door.")

    async def meaning(cue: Cue, index: Index) -> Sequence[Candidate]:
        (one,) = await index.by_id([meant], cue.scope)
        return [msgspec.structs.replace(one, source=SourceName.ENGINE, score=0.15, confidence=0.15)]

    with_arm(remora, "engine", meaning)

    assert await found(remora, "zebra crossing", folder) == []


async def test_a_source_that_does_not_answer_makes_the_answer_degraded(remora: Asking, folder: str) -> None:
    await remora.world.remember("Deploys go through the heron gateway.")

    async def away(cue: Cue, index: Index) -> Sequence[Candidate]:
        raise ArmUnavailable("loading")

    with_arm(remora, "engine", away)
    some = await remora.ask("memory.search", query="heron gateway", workspace=folder)
    none = await remora.ask("memory.search", query="zebra", workspace=folder)

    assert (len(some["hits"]), some["degraded"], some["arms"][-1]["shortfall"]) == (1, True, "loading")
    assert (none["hits"], none["degraded"]) == ([], True)  # never "no memories"


# ---------------------------------------------------------------------------------------------------- explained


LEFT_OUT: list[tuple[dict[str, Any], str]] = [
    ({"status": Status.SUPERSEDED, "superseded_by": a_memory_id(9)}, "not-active"),
    ({"status": Status.REVOKED}, "not-active"),
    ({"flags": (Flag.QUARANTINED,)}, "quarantined"),
    ({"flags": (Flag.RECHECK,)}, "quarantined"),
    ({"flags": (Flag.CORRECTED,)}, "corrected"),
    ({"expires_at": START}, "expired"),
    ({"valid_from": START + 1}, "not-yet-valid"),
]


@pytest.mark.parametrize(("fields", "reason"), LEFT_OUT)
async def test_what_fits_and_is_left_out_is_named_with_its_reason(
    remora: Asking, folder: str, fields: dict[str, Any], reason: str
) -> None:
    good = await remora.world.remember("Deploys go through the heron gateway.")
    out = await remora.world.remember("Deploys went through the heron tunnel.", **fields)
    await remora.world.remember("Owls sleep by day.", **fields)

    answer = await remora.ask("memory.search", query="heron deploys", workspace=folder, explain=True)

    assert [hit["memoryId"] for hit in answer["hits"]] == [good]
    assert answer["explain"]["filtered"] == [{"memoryId": out, "reason": reason}]


async def test_what_reads_like_an_order_is_named_though_no_flag_says_so(remora: Asking, folder: str) -> None:
    out = await remora.world.remember(f"The heron gateway is new. {POISON}")

    answer = await remora.ask("memory.search", query="heron gateway", workspace=folder, explain=True)

    assert (answer["hits"], answer["explain"]["filtered"]) == ([], [{"memoryId": out, "reason": "quarantined"}])


@pytest.mark.promise("no-leak")
async def test_nothing_of_another_workspace_is_named_or_counted(remora: Asking, folder: str) -> None:
    await remora.world.remember("The heron gateway is old.", remora.world.workspace("other"), status=Status.REVOKED)
    await remora.world.remember("The heron gateway is new.", remora.world.workspace("other"))

    answer = await remora.ask("memory.search", query="heron gateway", workspace=folder, explain=True)

    assert answer["hits"] == []
    assert answer["explain"]["filtered"] == []
    assert answer["explain"]["total"] == 0
    assert {term["records"] for term in answer["explain"]["terms"]} == {0}


async def test_each_term_of_the_query_is_told_with_the_number_of_records_that_hold_it(
    remora: Asking, folder: str
) -> None:
    for text in ("Deploys go through the heron gateway.", "The gateway has a new owner.", "Owls sleep."):
        await remora.world.remember(text)

    answer = await remora.ask("memory.search", query="the heron gateway zebra", workspace=folder, explain=True)

    told = {term["term"]: term["records"] for term in answer["explain"]["terms"]}
    assert (told, answer["explain"]["total"]) == ({"heron": 1, "gateway": 2, "zebra": 0}, 3)


async def test_a_broken_index_is_explained_as_far_as_that_goes(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("Deploys go through the heron gateway.")
    await found(remora, "heron", folder)
    await break_index(remora)

    answer = await remora.ask("memory.search", query="heron gateway", workspace=folder, explain=True)

    assert (answer["degraded"], [hit["memoryId"] for hit in answer["hits"]]) == (True, [memory_id])
    assert answer["explain"]["total"] == 1


# ---------------------------------------------------------------------------------------------------- odd queries


async def test_a_search_hides_nothing_that_nearly_says_the_same(remora: Asking, folder: str) -> None:
    ids = {await remora.world.remember(f"The heron gateway number {n} is open.") for n in range(7)}

    assert set(await found(remora, "heron gateway", folder)) == ids


@pytest.mark.parametrize("query", ["AND OR NOT", '"unmatched', "foo-bar*", "C++", "😀", "heron " * 17_000, "数据库"])
async def test_any_query_is_answered(remora: Asking, folder: str, query: str) -> None:
    await remora.world.remember("The heron gateway runs foo-bar in C++ 数据库.")

    answer = await remora.ask("memory.search", query=query, workspace=folder, explain=True)

    assert answer["degraded"] is False
    assert len(answer["hits"]) <= 1


@pytest.mark.parametrize("query", ["", "  ", "?!", "the of and"])
async def test_a_question_without_a_word_in_it_finds_nothing(remora: Asking, folder: str, query: str) -> None:
    await remora.world.remember("The gateway has a new owner.")

    assert await remora.ask("memory.search", query=query, workspace=folder) == {
        "hits": [],
        "degraded": False,
        "arms": [],
    }


async def test_an_answer_without_the_index_says_that_it_is_degraded(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("Deploys go through the heron gateway.")
    await found(remora, "heron", folder)
    await remora.world.parts.library._database.write(lambda connection: connection.execute("DROP TABLE df"))

    answer = await remora.ask("memory.search", query="heron gateway", workspace=folder)

    assert answer["degraded"] is True
    assert [hit["memoryId"] for hit in answer["hits"]] == [memory_id]


@pytest.mark.parametrize(("limit", "expected"), [(-5, 1), (0, 1), (2, 2), (MAX_LIST + 1, 3)])
async def test_a_limit_out_of_range_is_brought_into_it(remora: Asking, folder: str, limit: int, expected: int) -> None:
    for number in range(3):
        await remora.world.remember(f"Heron number {number} nests at the gateway.")

    assert len(await found(remora, "heron", folder, limit=limit)) == expected
    answer = await remora.ask("memory.list", workspace=folder, limit=limit)
    assert len(answer["records"]) == expected


async def test_an_agent_finds_what_may_be_shown_to_it_and_reads_who_said_it(remora: Asking, folder: str) -> None:
    open_to_it = await remora.world.remember("The heron gateway is in zone 3.", origin=Origin.EXTRACTED)
    muted = await remora.world.remember("The heron gateway has a spare.")
    await remora.ask("memory.mute", memoryId=muted, workspace=folder)

    person = await remora.ask("memory.search", query="heron gateway", workspace=folder)
    agent = await remora.ask("memory.search", query="heron gateway", workspace=folder, principal="agent")

    assert {hit["memoryId"] for hit in person["hits"]} == {open_to_it, muted}
    assert [(hit["memoryId"], hit["origin"]) for hit in agent["hits"]] == [(open_to_it, Origin.EXTRACTED)]
