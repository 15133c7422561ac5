"""The demo as a user runs it: a real command, a real daemon, a recorded session, held against the labels."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.demo.recording import SHIPPED
from host.evaluation.sessions import Labels, load
from host.namespace import SCRIPT

COMMAND = [str(Path(sys.executable).parent / SCRIPT), "demo"]
SECONDS = 60


def surroundings(folder: Path) -> dict[str, str]:
    """A temporary folder of the test's own, so that whatever is left behind can be seen there."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"TMPDIR": str(folder), "NO_COLOR": "1"}


def left_behind(folder: Path) -> list[str]:
    """Files below the folder, and processes that were started for it."""
    return [str(path) for path in folder.iterdir()] + list(processes_of(folder))


def processes_of(folder: Path) -> Iterator[str]:
    """Running processes whose environment names the folder, the demo's own command excepted."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{folder}/".encode() in file.read_bytes():
                yield file.parent.name
    if not Path("/proc").is_dir():
        shown = subprocess.run(["ps", "axeww", "-o", "pid,command"], capture_output=True, text=True, check=True).stdout
        yield from (line for line in shown.splitlines() if f"{folder}/" in line)


@pytest.fixture(scope="module")
def played() -> Iterator[tuple[dict[str, Any], list[str]]]:
    """One playing of the shipped session: what it said, and what it left behind."""
    with tempfile.TemporaryDirectory(prefix="r") as name:
        folder = Path(name)
        done = subprocess.run(
            [*COMMAND, "--json"],
            env=surroundings(folder),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout), left_behind(folder)


@pytest.fixture(scope="module")
def labels() -> Labels:
    return load(SHIPPED).labels


@pytest.mark.promise("demo-delivers-gold")
def test_something_is_handed_over_in_a_gold_window(played: tuple[dict[str, Any], list[str]], labels: Labels) -> None:
    said, _ = played

    right = [
        (given["seq"], memory)
        for given in said["deliveries"]
        for memory in given["memories"]
        for gold in labels.gold
        if memory in labels.restated(gold.memory) and gold.covers(given["seq"])
    ]
    assert right
    assert said["summary"]["hits"] >= 1


@pytest.mark.promise("demo-delivers-gold")
def test_nothing_of_the_never_list_is_handed_over(played: tuple[dict[str, Any], list[str]], labels: Labels) -> None:
    said, _ = played

    given = {memory for delivery in said["deliveries"] for memory in delivery["memories"]}
    assert not given & set(labels.never_reason)
    assert said["summary"]["never"] == 0


def test_every_delivery_shows_the_text_that_would_enter_the_request(played: tuple[dict[str, Any], list[str]]) -> None:
    said, _ = played
    texts = {memory.id: memory.text for memory in load(SHIPPED).memories}

    for given in said["deliveries"]:
        assert all(memory in given["rendered"] for memory in given["memories"])
        assert any(texts[memory].split()[0] in given["rendered"] for memory in given["memories"])


def test_silences_have_reasons_and_one_pass_is_explained(played: tuple[dict[str, Any], list[str]]) -> None:
    said, _ = played

    summary = said["summary"]
    assert sum(summary["silences"].values()) + summary["delivered"] <= summary["passes"]
    assert summary["silences"]["unsupported-trigger"] > 0
    assert said["explained"]


def test_it_leaves_no_folder_and_no_process(played: tuple[dict[str, Any], list[str]]) -> None:
    _, left = played

    assert left == []


def test_ctrl_c_leaves_no_folder_and_no_process() -> None:
    with tempfile.TemporaryDirectory(prefix="r") as name:
        folder = Path(name)
        process = subprocess.Popen(
            [*COMMAND, "--pace", "1"],
            env=surroundings(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        first = process.stdout.readline()  # the daemon runs by now
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)

        assert first.startswith("session")
        assert process.returncode == 1
        assert left_behind(folder) == []
