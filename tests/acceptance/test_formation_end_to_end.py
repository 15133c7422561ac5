"""formation.md 9, "End to end": the same said in two sessions becomes a memory, a person keeps it, and it tells
where it comes from. The real command line, a real daemon, a real terminal."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.cli.test_review import agents_shell
from tests.support.at_terminal import AtTerminal
from tests.support.conversations import QUOTES, SAID, SENTENCE, conversation, proposing
from tests.support.daemon import RunningDaemon
from tests.support.prompt import ID, Prompt

DRIVER = ("--driver", "scripted:propose.json")
DAY = r"\d{4}-\d\d-\d\d"
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only where the system shows processes")


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prompt]:
    if agents_shell():
        pytest.skip("this test runs below an agent's product")
    with tempfile.TemporaryDirectory(prefix="r") as folder, RunningDaemon(Path(folder)) as daemon:
        for name, value in daemon.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield Prompt(tmp_path, monkeypatch)


def found(prompt: Prompt) -> list[str]:
    """What a search for the matter finds, less what the sessions did."""
    hits = prompt.json("search", "releases go out on Thursdays")["hits"]
    return [hit["memoryId"] for hit in hits if hit["kind"] == "semantic"]


@pytest.mark.promise("formation-end-to-end")
def test_what_two_sessions_said_is_committed_found_kept_and_explained(prompt: Prompt) -> None:
    for session, text in SAID.items():
        prompt.ok("import", "--history", str(conversation(prompt.folder, session, text)))
    proposing(prompt.folder / "propose.json")

    first = prompt.ok("checkpoint", "--session", "s-one", *DRIVER)
    assert re.fullmatch(r"s-one  0\.\.\d+  deferred  1 fact seen in 1 of 2 sessions  2 calls\n[^\n]+\n", first)
    assert found(prompt) == []

    second = prompt.ok("checkpoint", "--session", "s-two", *DRIVER)
    line = r"s-two  0\.\.\d+  extracted  1 memory committed \(extracted, at most a hint\)  2 calls\n"
    assert re.fullmatch(line, second)
    (memory_id,) = found(prompt)
    assert ID.fullmatch(memory_id)
    shown = prompt.json("show", memory_id)["record"]
    assert (shown["text"], shown["origin"]) == (SENTENCE, "extracted")

    refused = prompt.run("review", memory_id, "--keep", "--reason", "agreed with the team")
    assert refused.exit_code == 1 and "terminal of your own" in refused.output
    with AtTerminal(prompt.folder, "review", memory_id, "--keep", "--reason", "agreed with the team") as terminal:
        assert "reviewed" in terminal.until("\n")
        terminal.ended()
    assert prompt.json("show", memory_id)["record"]["origin"] == "reviewed"
    assert found(prompt) == [memory_id]

    evidence = prompt.ok("evidence", "--memory", memory_id)
    for session, quote in QUOTES.items():
        assert re.search(rf'{session}#\d+.* "{re.escape(quote)}"', evidence)
    assert re.search(r"prompt checkpoint-canonicalise@1 sha256 [0-9a-f]{12}… · model scripted:demo", evidence)
    assert re.search(rf'decided  auto .*{DAY}.* · human .*{DAY} "agreed with the team"', evidence)

    for session in SAID:  # nothing is formed twice
        assert "done before" in prompt.ok("checkpoint", "--session", session, *DRIVER)
    assert found(prompt) == [memory_id]
