"""Prompts with and without an answer, through the real recall, at the sizes that a test can afford. All sizes, and what
the figures rest on: docs/explanation/prompts.md."""

import asyncio
import itertools
import json
import xml.etree.ElementTree as xml

import pytest

from recall.engine import available
from tests.bench import corpus
from tests.calibration.asked import LEXICAL, SEMANTIC
from tests.calibration.drawing import Line, drawn
from tests.calibration.prompts import (
    FIRST,
    OFF,
    SECOND,
    Figures,
    contents,
    lines,
    measured,
    off_topic,
    on_topic,
    rows,
    trivial,
)
from tests.calibration.texts import PROMPTS, agent_notes, mixed

AROUND = [*mixed(agent_notes()), *itertools.islice(corpus.texts(500), 400)]
SPEAKS = 0.10  # of off-topic prompts, at most
FIRES = 0.85  # of prompts that share words with their record, at least
SECOND_FIRES = 0.25  # of the second set, half of which are in other words


@pytest.fixture(scope="module")
def by_words() -> Figures:
    prompts = [*on_topic(), *off_topic(), *trivial()]
    return asyncio.run(measured(contents(AROUND, (50, 500)), prompts, {"words": LEXICAL}))


@pytest.mark.parametrize("size", [50, 500])
def test_an_off_topic_prompt_seldom_gets_a_record(by_words: Figures, size: int) -> None:
    assert by_words.of(size, "words", OFF).asked >= 138
    assert by_words.spoken(size, "words", OFF) <= SPEAKS
    for kind in OFF:
        assert by_words.spoken(size, "words", (kind,)) <= SPEAKS


@pytest.mark.parametrize("size", [50, 500])
def test_a_prompt_in_the_words_of_its_record_gets_it(by_words: Figures, size: int) -> None:
    assert by_words.of(size, "words", ("close",)).asked == 33
    assert by_words.fired(size, "words", ("close",)) >= FIRES
    assert by_words.of(size, "words", FIRST).wrong <= 1


@pytest.mark.parametrize("size", [50, 500])
def test_a_prompt_that_says_much_else_gets_its_record_too(by_words: Figures, size: int) -> None:
    """The second set: a prompt covers a third of what it says in common with its record, and less."""
    assert by_words.of(size, "words", SECOND).asked == 66
    assert by_words.fired(size, "words", SECOND) >= SECOND_FIRES
    assert by_words.of(size, "words", SECOND).wrong <= 1
    assert by_words.of(size, "words", SECOND).found >= 50


@pytest.mark.parametrize("size", [50, 500])
def test_a_trivial_prompt_gets_nothing(by_words: Figures, size: int) -> None:
    assert by_words.of(size, "words", ("trivial",)).asked >= 40
    assert by_words.spoken(size, "words", ("trivial",)) == 0


@pytest.mark.skipif(not available(), reason="the extra semantic is not installed")
def test_with_the_engine_no_more_off_topic_prompts_than_allowed_get_one() -> None:
    arms = {"words": LEXICAL, "words and meaning": SEMANTIC}
    figures = asyncio.run(measured(contents(AROUND, (50,)), [*on_topic(), *off_topic(), *trivial()], arms))

    by = "words and meaning"
    assert figures.spoken(50, by, OFF) <= SPEAKS
    assert figures.spoken(50, by, ("trivial",)) == 0
    assert figures.fired(50, by, ("close",)) >= figures.fired(50, "words", ("close",)) >= FIRES
    assert figures.fired(50, by, SECOND) >= figures.fired(50, "words", SECOND) >= SECOND_FIRES
    assert len(list(rows(figures, (50,)))) == 4 + 4 * 4
    assert len(lines(figures, (50,))) == 6


def test_the_sets_are_as_large_as_they_are_said_to_be() -> None:
    asked, ordinary = on_topic(), [one for one in off_topic() if one.kind == "off-topic"]
    assert len(ordinary) == 66
    assert [sum(one.kind == kind for one in asked) for kind in (*FIRST, *SECOND)] == [33] * 4
    assert all(one.answers for one in asked)
    typed = json.loads((PROMPTS / "real.json").read_text(encoding="utf-8"))["prompts"]
    assert len({one["prompt"] for one in typed}) == 60


def test_a_curve_is_drawn_with_a_line_and_a_label_each() -> None:
    points = ((50.0, 0.1), (500.0, 0.2), (5000.0, 0.2))
    lines = [Line("some <kind>", "#000000", dashed, points) for dashed in (True, False)]
    root = xml.fromstring(drawn(lines))
    polylines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(one.attrib["points"].split()) for one in polylines] == [3, 3]
    labels = [one for one in root.itertext() if "some <kind>" in one]
    assert len(labels) == 2
