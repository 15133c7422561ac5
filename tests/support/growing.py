"""Formation as it is asked for on the wire: a session in which something is said, and answers to tasks."""

import json
from pathlib import Path
from typing import Any

from recall.contracts import EventType
from tests.support.asking import Asking
from tests.support.builders import SESSION, a_prompt, a_reply, an_event

Json = dict[str, Any]
LESSON = "Run the migrations before the tests, else they fail."
QUOTE = "Run the migrations before the tests"
SAYS = "Migrations run before the tests."


async def talk(remora: Asking, *texts: str, session: str = SESSION, first: int = 0) -> str:
    """A session in which the user says these, each answered; its folder. `first`: the number of the first of them."""
    folder = remora.world.workspace()
    for place, text in enumerate(texts, start=first):
        await remora.append(
            a_prompt(text, session_id=session, workspace=folder, event_id=f"{session}:u{place}"),
            a_reply("I will.", session_id=session, workspace=folder, event_id=f"{session}:a{place}"),
        )
    return folder


async def ended(remora: Asking, folder: str, session: str = SESSION) -> None:
    await remora.append(
        an_event(EventType.SESSION_END, session_id=session, workspace=folder, event_id=f"{session}:end")
    )


async def note_task(remora: Asking, folder: str, session: str = SESSION, **params: Any) -> Json:
    """The task that is handed over; that there is one is asserted."""
    task: Json | None = (await remora.ask("extract.run", workspace=folder, sessionId=session, emitTask=True, **params))[
        "task"
    ]
    assert task is not None
    return task


async def range_task(remora: Asking, folder: str, session: str = SESSION, **params: Any) -> Json:
    """The same of a range."""
    ran = await remora.ask("checkpoint.run", workspace=folder, sessionId=session, emitTask=True, **params)
    task: Json | None = ran["task"]
    assert task is not None, ran
    return task


def lines_of(task: Json) -> list[Json]:
    """The messages that a task shows."""
    return [json.loads(line) for line in task["packet"]["material"].splitlines() if line.startswith("{")]


def note(content: str, quote: str, task: Json, **fields: Any) -> Json:
    """A note that rests on a quote of a message of the task."""
    said = next(line for line in lines_of(task) if quote in line["content"])
    return {
        "kind": "lesson",
        "title": "Order of tests",
        "content": content,
        "attribution": "user_statement",
        "citations": [{"messageId": said["messageId"], "quote": quote}],
    } | fields


def batch(task: Json, *notes: Json, **fields: Any) -> Json:
    """The agent's answer to a task."""
    return {
        "format": task["contract"]["format"],
        "taskId": task["taskId"],
        "binding": task["binding"],
        "notes": list(notes),
    } | fields


def scripted(folder: Path, *answers: Json, **fields: Any) -> str:
    """A driver that gives these answers, as it is named to the daemon."""
    script = folder / "answers.json"
    script.write_text(json.dumps({"answers": list(answers), **fields}))
    return f"scripted:{script}"
