"""Form a session in a process of its own, which kills itself at a named point of a commit, and tell what is there.

    python -m tests.reliability.forming act    FOLDER PIPELINE POINT
    python -m tests.reliability.forming finish FOLDER PIPELINE
    python -m tests.reliability.forming look   FOLDER PIPELINE

`act` is killed; `finish` is the next start: what was left undone is done. Both tell nothing of what they did: `look`
reads it from the stores and files.
"""

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from governance.formation.contracts import ExtractL1Request, Pipeline, Trigger
from governance.formation.formats import Formats
from governance.formation.notes import Setting, extract_l1
from governance.formation.prompts import load
from governance.formation.saving import Occasion, Saving
from host.config import FormationSettings
from host.formation.ports import Ask
from host.namespace import name
from tests.support.builders import SESSION, a_prompt, a_reply, a_start, an_event
from tests.support.clock import START
from tests.support.formed import team_of
from tests.support.world import World, a_world

SENTENCE = "Releases go out on Thursdays."
SAID = "Remember: releases go out on Thursdays."
QUOTE = "releases go out on Thursdays"
REF = f"{SESSION}#2"
EVENT = "prompt:1"
NOTE = {
    "kind": "fact",
    "title": "Release day",
    "content": SENTENCE,
    "attribution": "user_statement",
    "citations": [{"messageId": EVENT, "quote": QUOTE}],
}
MEMORY = {"content": SENTENCE, "type": "work_fact", "priority": 70, "source_message_ids": [EVENT], "metadata": {}}
SCRIPT: dict[str, Any] = {
    "id": "kills",
    "log": "calls.jsonl",
    "answers": [
        {
            "when": "and propose what should be remembered of it",
            "repeat": True,
            "tool": "submit",
            "arguments": {
                "status": "complete",
                "items": [{"content": SENTENCE, "evidence": [{"sourceRef": REF, "quote": QUOTE}]}],
            },
        },
        {
            "when": "You are given quotes of what a user wrote",
            "repeat": True,
            "tool": "submit",
            "arguments": {"results": [{"id": "i1", "verdict": "accept", "sentence": SENTENCE}]},
        },
        {
            "when": "What you write is stored as memories",
            "repeat": True,
            "tool": "submit",
            "arguments": {"segments": [{"scene_name": "release", "message_ids": [EVENT], "memories": [MEMORY]}]},
        },
        {"when": "A person will review each note", "repeat": True, "tool": "submit", "arguments": {"notes": [NOTE]}},
    ],
}


def killed_at(point: str) -> Callable[[str], None]:
    def fault(here: str) -> None:
        if here == point:
            os.kill(os.getpid(), signal.SIGKILL)

    return fault


def settings(folder: Path) -> FormationSettings:
    path = folder / "script.json"
    if not path.exists():
        path.write_text(json.dumps(SCRIPT))
    return FormationSettings(driver="scripted", script=str(path))


async def act(folder: Path, pipeline: Pipeline, point: str) -> None:
    """A session is told, and formed; and the process is killed at that point."""
    fault = killed_at(point)
    async with a_world(folder / "data", formation=settings(folder), fault=fault) as world:
        here = {"workspace": world.workspace()}
        await world.feed(a_start(**here), a_prompt(SAID, event_id=EVENT, **here), a_reply("Noted.", **here))
        await world.feed(an_event("turn/end", {}, **here))
        await formed(world, pipeline, fault)


async def finish(folder: Path, pipeline: Pipeline) -> None:
    """What the next start of a daemon does."""
    async with a_world(folder / "data", formation=settings(folder)) as world:
        if pipeline is Pipeline.NOTES:
            await formed(world, pipeline, lambda point: None)
        else:
            await world.parts.formation.runner._take_over()
            await world.parts.formation.runner._round()
            await world.parts.tasks.settled()
        assert await world.parts.projector.drain() == 0, world.parts.projector.problem


async def formed(world: World, pipeline: Pipeline, fault: Callable[[str], None]) -> None:
    formation = world.parts.formation
    if pipeline is not Pipeline.NOTES:
        await formation.run(Ask(session_id=SESSION, pipeline=pipeline, trigger=Trigger.END))
        return
    assert formation.driver is not None
    messages = await formation.material.messages(SESSION, 0, 2**40)
    request = ExtractL1Request(run_id="run-1", scope_key=team_of(world), stream_id=SESSION, messages=messages)
    setting = Setting(prompt=load("notes@1"), formats=Formats(prefix=name()), now=world.clock.now)
    result = await extract_l1(formation.driver, request, setting)
    assert result.changes, result
    saving = Saving(database=world.parts.kept, queue=world.parts.queue, fault=fault)
    await saving.save(result, Occasion(at=START, scope_key=team_of(world), stream_id=SESSION))


def look(folder: Path) -> dict[str, Any]:
    """What stands in the stores and files, read by nobody of ours."""
    data = folder / "data"
    with closing(sqlite3.connect(f"file:{data / 'governance.db'}?mode=ro", uri=True)) as connection:

        def count(table: str) -> int:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

        cursors = connection.execute("SELECT pipeline, processed_seq FROM cursor").fetchall()
        waits = connection.execute("SELECT count(*) FROM outbox WHERE done_at IS NULL").fetchone()[0]
        tables = ("receipt", "memory", "memory_source", "queue", "note", "note_window", "generation")
        rows = {table: count(table) for table in tables}
    lines = [json.loads(one) for path in data.glob("records/*.jsonl") for one in path.read_text().splitlines()]
    calls = folder / "calls.jsonl"
    return {
        **rows,
        "cursor": dict(cursors),
        "outbox": waits,
        "lines": [one["line"] for one in lines],
        "markdown": sum(path.read_text().count(SENTENCE) for path in data.glob("memory/**/*.md")),
        "calls": len(calls.read_text().splitlines()) if calls.exists() else 0,
    }


def main() -> None:
    verb, folder, pipeline, *rest = sys.argv[1:]
    match verb:
        case "act":
            asyncio.run(act(Path(folder), Pipeline(pipeline), rest[0]))
        case "finish":
            asyncio.run(finish(Path(folder), Pipeline(pipeline)))
        case _:
            print(json.dumps(look(Path(folder))))


if __name__ == "__main__":
    main()
