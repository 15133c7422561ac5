"""A task as long as they get, before the models of the real clients: whole, or seen to be cut.

Claude Code keeps an answer above 50 000 characters from its model, unless the tool asks for more. Codex cuts the middle
out of whatever is above 48 000 bytes, unless its user's settings allow more; what is left may still be valid JSON.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import codex_driver, driver
from tests.e2e.installed import client
from tests.e2e.mcp_entries import call_in_claude, call_in_codex, for_claude, for_codex
from tests.e2e.team_clients import TOOLS, Place, results_in_claude, results_in_codex

pytestmark = [pytest.mark.client, pytest.mark.promise("team-clients")]

# With the other turns nearly 40 960 bytes, which is what a chunk holds; no word of it is there twice.
LONG = " ".join(f"word{number:05}" for number in range(4_050))
SAID = (LONG, "it failed because we published from main", "Now tag it", "Thanks, that is all")
ALLOWED = "tool_output_token_limit=150000"
CUT = "tokens truncated"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="r") as folder, Place(Path(folder), SAID) as opened:
        yield opened


def read_by_codex(place: Place, *settings: str) -> str:
    """What the model is shown of a task."""
    place.put_back()
    recall = call_in_codex("memory_recall", request=place.request)
    with codex_driver.Model([codex_driver.reply("I read.", recall), codex_driver.reply("Read.")]) as model:
        codex = codex_driver.client_of(place.folder, model, place.daemon)
        codex.settings.extend(settings)
        for_codex(codex)
        assert codex.say("What did we learn?").code == 0
    (answer,) = results_in_codex(model.requests[-1].body)
    return answer


def is_whole(answer: str) -> bool:
    (task,) = json.loads(answer[answer.index("{") :])["sources"]
    assert len(task["chunk"]["turnEvidence"]) == 3  # one chunk
    return LONG in task["chunk"]["transcript"] and CUT not in task["chunk"]["transcript"]


def test_claude_code_shows_its_model_all_of_a_full_chunk(place: Place) -> None:
    place.put_back()
    recall = call_in_claude("memory_recall", request=place.request)
    with driver.Model([driver.reply("I read.", recall), driver.reply("Read.")]) as model:
        claude = client(place.folder, model, place.daemon)
        for_claude(claude, *TOOLS)
        assert claude.say("What did we learn?").code == 0
    (answer,) = results_in_claude(model.requests[-1].body)

    assert len(answer) > 50_000
    assert is_whole(answer)


def test_codex_shows_its_model_all_of_a_full_chunk_where_its_user_allows_it(place: Place) -> None:
    assert is_whole(read_by_codex(place, ALLOWED))


def test_codex_says_that_it_cut_a_full_chunk_where_it_was_not_allowed(place: Place) -> None:
    """So the model can see what it is told to look for."""
    answer = read_by_codex(place)

    assert CUT in answer and LONG not in answer
