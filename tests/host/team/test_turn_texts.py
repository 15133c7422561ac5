"""Texts are made once as long as their payload is the same, and terms are kept."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.team.matching import wanted
from governance.team.store import turns as store
from host.team import turn_texts
from host.team.turn_texts import TurnTexts
from recall.analyzer import ANALYZER
from tests.support.clock import START
from tests.support.team_history import Histories, a_history


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Histories]:
    async with a_history(tmp_path) as histories:
        await histories.log(histories.talk().turns(4))
        yield histories


def texts_of(made: Histories) -> TurnTexts:
    return TurnTexts(made.history.past.cutter, made.world.parts.kept, made.commits)


async def test_a_turn_that_was_read_a_moment_ago_is_not_read_again(made: Histories) -> None:
    texts = texts_of(made)
    (known,) = await made.history.past.near(made.bound, START)
    first = await texts.of(known.turns)
    connection = sqlite3.connect(made.world.folder / "log.db")
    connection.execute("UPDATE event SET payload = ?", (b"{}",))
    connection.commit()
    connection.close()

    assert await texts.of(known.turns) == first
    other = [
        msgspec.structs.replace(one, turn=msgspec.structs.replace(one.turn, payload_digest="x")) for one in known.turns
    ]
    assert await texts.of(other) != first


async def test_what_is_remembered_is_bounded(made: Histories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_texts, "REMEMBERED", 2)
    texts = texts_of(made)
    (known,) = await made.history.past.near(made.bound, START)

    assert len(await texts.of(known.turns)) == 4 and len(texts._contents) == 2

    monkeypatch.setattr(turn_texts, "REMEMBERED_CHARACTERS", 10)
    assert len(await texts.of(known.turns)) == 4 and len(texts._contents) == 0


async def test_terms_are_made_once_and_kept(made: Histories) -> None:
    (known,) = await made.history.past.near(made.bound, START)

    texts, turns = texts_of(made), {"s-1": known.turns}
    first = known.turns[0].turn.turn_key
    assert await texts.holding(turns, wanted("question")) == {one.turn.turn_key for one in known.turns}
    assert await texts.holding(turns, wanted("importer")) == frozenset()

    kept = await made.world.parts.kept.read(lambda c: store.with_terms(c, [first, "x"], ANALYZER))
    assert kept == {first}
