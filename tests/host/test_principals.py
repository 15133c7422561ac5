"""Who is at the other end of a connection, as the system's process table tells."""

import os
from pathlib import Path

import pytest

from governance.review import Principal
from host.principals import ANCESTORS, PRODUCTS, marked, principal, speaker

HUMAN, AGENT = Principal.HUMAN, Principal.AGENT


def processes(folder: Path, *chain: dict[str, str], terminal: int = 34816) -> int:
    """A process table: the first is the client, each next one its parent. The pid of the client."""
    (folder / "self").mkdir(parents=True, exist_ok=True)
    for number, given in enumerate(chain):
        pid, parent = 100 + number, 101 + number if number + 1 < len(chain) else 1
        own = folder / str(pid)
        own.mkdir()
        name = given.get("comm", "bash")
        (own / "stat").write_text(f"{pid} ({name}) S {parent} {pid} {pid} {terminal} {pid} 4194304 0")
        (own / "comm").write_text(f"{name}\n")
        variables = {key: value for key, value in given.items() if key != "comm"}
        (own / "environ").write_bytes(b"".join(f"{key}={value}\0".encode() for key, value in variables.items()))
    return 100


def test_a_person_in_a_shell_is_a_person(tmp_path: Path) -> None:
    pid = processes(tmp_path, {"HOME": "/h"}, {"SHELL": "zsh", "comm": "zsh"}, {"comm": "we) ird ("})
    assert principal(HUMAN, pid, tmp_path) is HUMAN


def test_nobody_is_more_than_they_say(tmp_path: Path) -> None:
    pid = processes(tmp_path, {})
    assert principal(AGENT, pid, tmp_path) is AGENT
    assert principal(Principal.POLICY, pid, tmp_path) is AGENT


@pytest.mark.promise("only-a-person-decides")
def test_a_command_in_an_agents_shell_speaks_for_the_agent_also_when_it_hides_the_mark(tmp_path: Path) -> None:
    assert principal(HUMAN, processes(tmp_path / "own", {"CLAUDECODE": "1"}), tmp_path / "own") is AGENT
    hidden = processes(tmp_path / "above", {"HOME": "/h"}, {"comm": "env"}, {"CODEX_THREAD_ID": "t"})
    assert principal(HUMAN, hidden, tmp_path / "above") is AGENT
    below = processes(tmp_path / "below", {"HOME": "/h"}, {"comm": "claude"})
    assert principal(HUMAN, below, tmp_path / "below") is AGENT
    assert "claude" in PRODUCTS


@pytest.mark.promise("only-a-person-decides")
def test_without_a_terminal_nobody_is_a_person(tmp_path: Path) -> None:
    assert principal(HUMAN, processes(tmp_path, {}, terminal=0), tmp_path) is AGENT


def test_a_client_that_is_gone_is_no_person(tmp_path: Path) -> None:
    processes(tmp_path, {})
    assert principal(HUMAN, 4711, tmp_path) is AGENT


def test_where_the_system_shows_nothing_the_clients_word_is_taken(tmp_path: Path) -> None:
    assert principal(HUMAN, 100, tmp_path / "nothing") is HUMAN
    assert principal(HUMAN, None) is HUMAN


def test_a_process_that_is_its_own_ancestor_ends_the_walk(tmp_path: Path) -> None:
    processes(tmp_path, {})
    (tmp_path / "100" / "stat").write_text("100 (loop) S 100 1 1 34816 1")
    assert ANCESTORS < 100
    assert principal(HUMAN, 100, tmp_path) is HUMAN


def test_a_process_that_may_not_be_read_is_passed_over(tmp_path: Path) -> None:
    processes(tmp_path, {}, {})
    for name in ("environ", "comm"):
        (tmp_path / "101" / name).unlink()
    assert principal(HUMAN, 100, tmp_path) is HUMAN


def test_marks_are_names_of_variables() -> None:
    assert marked(["PATH", "GEMINI_CLI"])
    assert not marked(["PATH", "CLAUDE_CONFIG_DIR"])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only where the system shows its processes")
def test_this_very_process_can_be_read() -> None:
    assert principal(HUMAN, os.getpid()) in (HUMAN, AGENT)


def test_who_says_something_needs_no_terminal_but_no_agent_above(tmp_path: Path) -> None:
    script = processes(tmp_path / "script", {"HOME": "/h"}, terminal=0)
    assert speaker(HUMAN, script, tmp_path / "script") is HUMAN
    below = processes(tmp_path / "below", {"HOME": "/h"}, {"comm": "sh"}, {"comm": "claude"}, terminal=0)
    assert speaker(HUMAN, below, tmp_path / "below") is AGENT
    assert speaker(HUMAN, processes(tmp_path / "own", {"CODEX_CI": "1"}), tmp_path / "own") is AGENT
    assert speaker(AGENT, script, tmp_path / "script") is AGENT
    assert speaker(HUMAN, None, tmp_path) is speaker(HUMAN, 7, tmp_path / "nothing") is HUMAN
