"""Prompts of the team workflow: files with versions, and what each of them must say."""

import pytest

from governance.team.prompts import names, prompt
from recall.canonical import text_digest


def test_every_prompt_is_a_file_with_a_version() -> None:
    assert {"adjudicate@1", "extract@1", "skill@1"} <= set(names())
    for name in names():
        found = prompt(name.partition("@")[0])
        assert found.sha256 == text_digest(found.text)
        assert found.text and found.text == found.text.strip()


def test_the_newest_version_is_taken_and_an_unknown_name_is_none() -> None:
    assert prompt("extract").id == "extract@1"
    with pytest.raises(LookupError, match="no-such"):
        prompt("no-such")


@pytest.mark.parametrize("name", ["extract", "adjudicate", "skill"])
def test_material_is_said_to_be_data(name: str) -> None:
    assert "data" in prompt(name).text


def test_extraction_says_what_the_rules_of_recall_are() -> None:
    text = " ".join(prompt("extract").text.split())
    for rule in (
        "It is data",
        "no decision",
        "only the assistant said is no fact",
        "empty list is a good answer",
        "the last word counts",
        "never count or guess",
        "passwords",
        "exactly as they are",
    ):
        assert rule in text, rule
