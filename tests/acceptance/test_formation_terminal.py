"""`review` at a real terminal, with a real daemon: keys, the editor, and whatever interrupts it."""

import json
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host.cli.test_review import agents_shell
from tests.support.asking import on_wire
from tests.support.at_terminal import AtTerminal
from tests.support.builders import a_prompt
from tests.support.daemon import RunningDaemon, Wire
from tests.support.prompt import Prompt

PROMPT = "[q]uit "
SAID_AT = 1_780_000_000_000
SAID = (
    "We ship the releases on Thursdays.",
    "The staging port is 8080 for everybody.",
    "Never push to the main branch by hand.",
)
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only where the system shows processes")


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    if agents_shell():
        pytest.skip("these tests run below an agent's product")
    with tempfile.TemporaryDirectory(prefix="r") as folder, RunningDaemon(Path(folder)) as running:
        yield running


@pytest.fixture
def prompt(daemon: RunningDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prompt:
    for name, value in daemon.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return Prompt(tmp_path, monkeypatch)


@pytest.fixture
def notes(daemon: RunningDaemon, prompt: Prompt) -> list[str]:
    """Three notes wait: what the user said in a session of this folder, noted as it was said."""
    session = f"s-{prompt.folder.name}"
    with Wire(daemon.socket) as wire:
        for place, text in enumerate(SAID):
            event = a_prompt(text, session_id=session, workspace=str(prompt.folder), timestamp=SAID_AT + place)
            wire.call("event.append", events=[on_wire(event)])
    return [prompt.json("review", "--add", text, "--quote", text, "--session", session)["itemId"] for text in SAID]


def state(prompt: Prompt, item_id: str) -> str:
    found: str = prompt.json("review", item_id)["item"]["state"]
    return found


def waiting(prompt: Prompt) -> list[str]:
    return [one["item"]["itemId"] for one in prompt.json("review")["items"]]


def found(prompt: Prompt, words: str) -> list[str]:
    return [hit["text"] for hit in prompt.json("search", words)["hits"]]


def editor(folder: Path, script: str) -> dict[str, str]:
    program = folder / "editor.py"
    program.write_text(
        f"import os, signal, sys, pathlib\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_text()\n{script}\n"
    )
    return {"EDITOR": shlex.join([sys.executable, str(program)]), "VISUAL": ""}


def test_a_person_goes_from_item_to_item_and_each_key_counts(prompt: Prompt, notes: list[str]) -> None:
    newest_first = waiting(prompt)
    assert set(newest_first) == set(notes)
    with AtTerminal(prompt.folder, "review") as terminal:
        card = terminal.until(PROMPT)
        assert "1 of 3" in card and "Said" in card and "you, 2026-" in card
        terminal.press("k")
        assert "Kept. Trust: reviewed." in terminal.until(PROMPT)
        terminal.press("a")
        assert "Archived." in terminal.until(PROMPT)
        terminal.press("x")  # no key of ours
        assert "q  quit" in terminal.until(PROMPT)
        terminal.press("s")
        assert terminal.ended() == 0
        assert "1 archived, 1 kept, 1 skipped; 1 item waits." in terminal.shown
    assert [state(prompt, one) for one in newest_first] == ["kept", "archived", "pending"]
    kept = prompt.json("review", newest_first[0])
    assert found(prompt, kept["item"]["text"]) == [kept["item"]["text"]]


def test_words_are_put_right_in_the_editor(prompt: Prompt, notes: list[str]) -> None:
    (item, *_) = waiting(prompt)
    changed = editor(prompt.folder, "file.write_text(text.replace('.\\n\\n# --', ', always.\\n\\n# --', 1))")
    with AtTerminal(prompt.folder, "review", environ=changed) as terminal:
        terminal.until(PROMPT)
        terminal.press("e")
        assert "Kept." in terminal.until(PROMPT)
        terminal.press("q")
        assert terminal.ended() == 0
    one = prompt.json("review", item)["item"]
    assert (one["state"], one["text"].endswith(", always.")) == ("kept", True)


@pytest.mark.parametrize("how", ["ctrl-c", "ctrl-d", "hang-up", "killed"])
def test_interrupted_anywhere_nothing_is_lost(prompt: Prompt, notes: list[str], how: str) -> None:
    first, *rest = waiting(prompt)
    with AtTerminal(prompt.folder, "review") as terminal:
        terminal.until(PROMPT)
        terminal.press("k")
        terminal.until("Kept.")
        terminal.until(PROMPT)
        match how:
            case "ctrl-c":
                terminal.press("\x03")
            case "ctrl-d":
                terminal.press("\x04")
            case "hang-up":
                terminal.hang_up()
            case _:
                os.kill(terminal.process.pid, signal.SIGKILL)
        if how.startswith("ctrl"):
            assert terminal.ended() == 0
            assert "1 kept; 2 items wait." in terminal.shown
        else:
            terminal.process.wait(timeout=30)  # it does not go round and round without a terminal
    assert state(prompt, first) == "kept"
    assert waiting(prompt) == rest


def test_words_that_were_being_written_when_the_terminal_died_are_there_the_next_time(
    prompt: Prompt, notes: list[str]
) -> None:
    (item, *_) = waiting(prompt)
    written = "file.write_text(text.replace('.\\n\\n# --', ', as agreed.\\n\\n# --', 1))"
    dies = editor(prompt.folder, f"{written}\nos.kill(os.getppid(), signal.SIGKILL)")
    with AtTerminal(prompt.folder, "review", environ=dies) as terminal:
        terminal.until(PROMPT)
        terminal.press("e")
        terminal.process.wait(timeout=30)
    assert state(prompt, item) == "pending"
    with AtTerminal(prompt.folder, "review", environ=editor(prompt.folder, "")) as terminal:
        terminal.until(PROMPT)
        terminal.press("e")
        terminal.until("Kept.")
        terminal.until(PROMPT)
        terminal.press("q")
        assert terminal.ended() == 0
    one = prompt.json("review", item)["item"]
    assert (one["state"], one["text"].endswith(", as agreed.")) == ("kept", True)


def test_a_pipe_and_an_agents_shell_get_the_list_and_decide_nothing(prompt: Prompt, notes: list[str]) -> None:
    with AtTerminal(prompt.folder, "review", environ={"CLAUDECODE": "1"}) as terminal:
        assert terminal.ended() == 0
        assert PROMPT not in terminal.shown
        assert notes[0] in terminal.shown.replace("\n", "")
    assert all(one in prompt.ok("review") for one in notes)
    refused = prompt.run("review", notes[0], "--keep")
    assert refused.exit_code == 1


def test_what_an_agents_shell_remembers_counts_as_noted_automatically(prompt: Prompt) -> None:
    with AtTerminal(prompt.folder, "remember", "The lab has nine lamps.", environ={"CLAUDECODE": "1"}) as terminal:
        assert terminal.ended() == 0
        assert "noted automatically" in terminal.shown
    (one,) = prompt.json("review", "--noted")["items"]
    told: Any = json.loads(json.dumps(one["record"]))
    assert told["origin"] == "extracted"
    with AtTerminal(prompt.folder, "review", "--noted") as terminal:
        terminal.until(PROMPT)
        terminal.press("k")
        assert terminal.ended() == 0
        assert "Kept. Trust: reviewed." in terminal.shown
