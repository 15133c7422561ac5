"""team.md 15, item 1, and issue 8, point 2: the whole loop of the team workflow over MCP in one conversation of each
real client, offline, and the same loop by our own commands.

All begin with the same data at the same paths: the same history, the same secret, the same repository. So documents
and files are equal byte for byte but for `DRAWN`: what is drawn by chance, and what the clock says, when a task is
handed out. Nothing else is left out of the comparison.
"""

import copy
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.driver import Model, bash, reply
from tests.e2e.installed import client, ours
from tests.e2e.team_clients import (
    FOLDER,
    LESSON,
    MAY_I,
    REFUSED,
    STEPS,
    Ended,
    Json,
    Place,
    Talk,
    in_a_shell,
    in_claude_code,
    in_codex,
)

pytestmark = [pytest.mark.client, pytest.mark.promise("team-clients")]

Way = Callable[[Place], Talk]
Refusing = Callable[[Place, Callable[[Place], None]], Talk]
STRANGE = b"a stranger's\n"
DRAWN = (("lease", "token"), ("lease", "expiresAt"), ("binding", "provenance", "evaluatedAt"))
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="r") as folder, Place(Path(folder)) as opened:
        yield opened


@pytest.fixture(scope="module")
def by_hand(place: Place) -> Ended:
    return place.loop(in_a_shell)


@pytest.mark.promise("team-01")
@pytest.mark.parametrize("way", [in_claude_code, in_codex])
def test_item_01_a_real_client_ends_as_our_commands_do(place: Place, by_hand: Ended, way: Way) -> None:
    before = place.seen_by_git()

    ended = place.loop(way)

    assert place.seen_by_git() == before
    ((path, written),) = ended.files.items()
    assert place.changed() == ["A  staged.txt", f"?? {path}"] and path.startswith(f"{FOLDER}/memory/entries/")
    assert compared(ended.documents) == compared(by_hand.documents)
    assert ended.files == by_hand.files
    assert ended.shown == by_hand.shown == f"{MAY_I}\n{written.decode()}"
    one_entry_is_approved(place, ended)


def one_entry_is_approved(place: Place, ended: Ended) -> None:
    """By the digest that the user saw; it is found, and nothing is wrong with it."""
    applied, reviewed = ended.documents["applied"], ended.documents["review"]
    assert (applied["state"], applied["applied"]) == ("applied", True)
    assert applied["planId"] == ended.documents["plan"]["planId"]
    assert ended.documents["plan"]["approvalDigest"] == reviewed["approval"]["digest"]
    status = place.ask("team", "status")
    assert (status["entries"], status["candidates"]["promoted"]) == (1, 1)
    assert not place.ask("lint")["findings"]
    (hit,) = place.ask("search", "SealBrokenError")["hits"]
    assert (hit["text"], hit["origin"]) == (LESSON, "reviewed")


@pytest.mark.parametrize("way", [in_claude_code, in_codex])
def test_what_changed_after_the_review_is_refused_and_the_agent_reads_why(place: Place, way: Refusing) -> None:
    """A stranger writes the very file between what the user saw and their yes."""
    place.put_back()

    talk = way(place, a_stranger_writes)

    (refusal,) = talk.refused
    assert "approval-mismatch" in refusal and "Nothing was confirmed. Review again" in refusal
    assert (len(talk.read), talk.said) == (4, REFUSED)
    assert set(place.files().values()) == {STRANGE}


def a_stranger_writes(place: Place) -> None:
    (change,) = place.ask("review", "--kind", "entry")["approval"]["changes"]
    path = place.project / change["targetPath"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(STRANGE)


@pytest.mark.promise("team-injectable")
def test_what_one_conversation_promoted_is_given_to_the_next_when_it_fails(place: Place) -> None:
    """Our hooks are there, as `init` writes them, while the loop runs too."""
    place.put_back()
    ours(place.daemon, place.project, "init", "--host", "claude-code", "--yes")
    assert in_claude_code(place).read[-1]["state"] == "applied"

    replies = [reply("I will seal it.", FAILING), reply("Let me look.", bash("echo looking")), reply("Done.")]
    with Model(replies) as model:
        assert client(place.folder, model, place.daemon).say("Please run the release step").code == 0

    assert [request.mentions(LESSON) for request in model.requests] == [0, 1, 1]
    assert not any(request.in_system(LESSON) for request in model.requests)


def compared(documents: dict[str, Json]) -> str:
    """The documents as text, so that the order of what they hold counts too, without what is drawn anew each time."""
    assert tuple(documents) == STEPS
    left = copy.deepcopy(documents)
    for task in left["recall"]["sources"]:
        for *way, last in DRAWN:
            within = task
            for name in way:
                within = within[name]
            del within[last]
    return json.dumps(left, ensure_ascii=False)
