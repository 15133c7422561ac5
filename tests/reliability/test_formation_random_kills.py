"""Kill -9 at random while sessions end and are formed: each thing that a user asked to be remembered is there once."""

import json
import random
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import RunningDaemon, a_message

pytestmark = [pytest.mark.reliability, pytest.mark.promise("formation-kills", "formation-20")]

ROUNDS = 7
SESSIONS = 4  # that end in each round
LONGEST_SECONDS = 0.6  # of a round, before the kill
PATIENCE_SECONDS = 60.0
WORDS = [
    "rotate",
    "anchors",
    "harbour",
    "seal",
    "ballots",
    "courier",
    "trim",
    "candles",
    "draught",
    "fold",
    "damask",
    "engraver",
    "grease",
    "fiddles",
    "foundry",
    "hoist",
    "gondolas",
    "granary",
    "ink",
    "hatchets",
    "hermit",
    "knead",
    "ivory",
    "jeweller",
    "lace",
    "kettles",
    "kiln",
    "mint",
    "lanterns",
    "lathe",
    "notch",
    "mandolins",
    "minstrel",
    "oil",
    "needles",
    "nursery",
    "paint",
    "oars",
    "orchard",
    "quilt",
    "parasols",
    "paddock",
    "ring",
    "quartz",
    "quarry",
    "salt",
    "rapiers",
    "rectory",
    "tan",
    "saddles",
    "steeple",
    "uncork",
    "thimbles",
    "tannery",
    "varnish",
    "umbrellas",
    "usher",
    "weave",
    "velvet",
    "vineyard",
    "yoke",
    "wagons",
    "windmill",
    "zip",
    "yarns",
    "yeoman",
    "air",
    "zithers",
    "zenith",
    "brush",
    "abacus",
    "aviary",
    "comb",
    "bellows",
    "bakery",
    "dye",
    "cobalt",
    "chapel",
    "etch",
    "drums",
    "dovecote",
    "frame",
    "easels",
    "embassy",
    "gild",
    "flutes",
    "fairground",
    "heat",
    "garnets",
    "gallery",
    "iron",
    "hammers",
    "hangar",
]
QUOTE = "Remember: ([a-z]+ [a-z]+ before [a-z]+)[.]"
SCRIPT: dict[str, Any] = {
    "id": "kills",
    "answers": [
        {
            "when": "and propose what should be remembered of it",
            "pick": {"ref": '"sourceRef": ?"(s-[0-9]+#[0-9]+)"', "quote": QUOTE},
            "repeat": True,
            "tool": "submit",
            "arguments": {
                "status": "complete",
                "items": [{"content": "They ${quote}.", "evidence": [{"sourceRef": "${ref}", "quote": "${quote}"}]}],
            },
        },
        {
            "when": "You are given quotes of what a user wrote",
            "pick": {"quote": '"([a-z]+ [a-z]+ before [a-z]+)"'},
            "repeat": True,
            "tool": "submit",
            "arguments": {"results": [{"id": "i1", "verdict": "accept", "sentence": "They ${quote}."}]},
        },
    ],
}


def fact(number: int) -> str:
    """No two of them speak of the same."""
    verb, thing, place = WORDS[3 * number : 3 * number + 3]
    return f"{verb} {thing} before {place}"


def a_daemon(folder: Path) -> RunningDaemon:
    daemon = RunningDaemon(folder)
    daemon.data.mkdir(mode=0o700, parents=True)
    (folder / "script.json").write_text(json.dumps(SCRIPT))
    settings = f'[recall]\nengine = false\n[formation]\ndriver = "scripted"\nscript = "{folder / "script.json"}"\n'
    (daemon.data / "config.toml").write_text(settings)
    return daemon


def rows(daemon: RunningDaemon, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{daemon.data / 'governance.db'}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(query).fetchall()


def settled(daemon: RunningDaemon, sessions: int) -> None:
    """Wait until every session was looked at, and nothing is left to do."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        left = rows(daemon, "SELECT state FROM job WHERE state IN ('queued', 'running')")
        ((seen,),) = rows(daemon, "SELECT count(DISTINCT session_id) FROM job")
        if seen == sessions and not left and not rows(daemon, "SELECT 1 FROM outbox WHERE done_at IS NULL"):
            return
        time.sleep(0.05)
    raise AssertionError(rows(daemon, "SELECT session_id, state, starts, reason FROM job"))


def test_each_fact_is_there_once_whenever_the_daemon_dies(tmp_path: Path) -> None:
    chance, daemon = random.Random(7), a_daemon(tmp_path)
    workspace = tmp_path / "project"
    workspace.mkdir()
    here = {"workspace": str(workspace)}
    count = 0
    try:
        for _ in range(ROUNDS):
            daemon.start()
            with daemon.connect() as wire:
                for _ in range(SESSIONS):
                    end = {"eventType": "session/end", "sourceKind": "lifecycle", "payload": {}} | here
                    told = a_message(f"s-{count}", 1, f"Remember: {fact(count)}.", **here)
                    wire.call("event.append", events=[told, a_message(f"s-{count}", 2, "", **end)])
                    count += 1
                time.sleep(chance.uniform(0, LONGEST_SECONDS))
            daemon.kill()
        daemon.start()
        settled(daemon, count)
    finally:
        daemon.stop()

    texts = Counter()
    for path in daemon.data.glob("memory/*/records/*.md"):
        said = path.read_text()
        texts.update({number: said.count(f"They {fact(number)}.") for number in range(count)})
    assert texts == Counter(dict.fromkeys(range(count), 1))
    lines = [
        json.loads(line)
        for path in daemon.data.glob("records/*.jsonl")
        for line in path.read_text().splitlines()
        if line
    ]
    recorded = Counter(one["memoryId"] for one in lines if one["line"] == "record")
    assert len(recorded) == count and set(recorded.values()) == {1}
    assert rows(daemon, "SELECT count(*) FROM memory") == rows(daemon, "SELECT count(*) FROM receipt") == [(count,)]
    assert rows(daemon, "SELECT count(*) FROM job WHERE state = 'failed'") == [(0,)]
