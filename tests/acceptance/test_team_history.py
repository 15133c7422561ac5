"""team.md 15, items 3, 4 and 21, over what really came in: live events, and transcripts of Claude Code and of Codex."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.team.times import day, read, written
from host.cli.main import main
from host.models import SCRATCH
from host.transcripts import READERS
from host.transcripts import read as read_lines
from recall.contracts import EventEnvelope, EventType, SourceKind
from recall.team_entry import Entry, parse
from tests.support.asking import Asking, on_wire
from tests.support.builders import an_event
from tests.support.clock import START
from tests.support.team_history import HOUR, Talk, a_repository, commit, git
from tests.support.team_loop import REQUEST, OverMcp, a_draft, a_remora, stored

DATA = Path(__file__).parents[1] / "data" / "transcripts"
Json = dict[str, Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "repository")


@pytest.fixture
async def remora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    async with a_remora(tmp_path / "data", monkeypatch) as made:
        yield made


def talk_of(session: str, folder: Path, start: int = START - 2 * HOUR) -> Talk:
    return Talk(session=session, folder=str(folder), start=start)


async def heard(remora: Asking, events: list[EventEnvelope]) -> None:
    """As it happens."""
    await remora.ask("event.append", events=[on_wire(event) for event in events], host="claude-code")


async def imported(file: Path, root: Path) -> None:
    """As a person takes past sessions in."""
    line = ["import", "--history", str(file), "--workspace", str(root)]
    done = await asyncio.to_thread(CliRunner().invoke, main, line)
    assert done.exit_code == 0, done.output


def placed(file: Path, root: Path, into: Path) -> Path:
    """A real transcript as if its session had run in `root`."""
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    lines: list[str] = []
    for record in records:
        for holder in (record, record.get("payload")):
            if isinstance(holder, dict) and ("cwd" in holder or record.get("type") == "session_meta"):
                holder["cwd"] = str(root)
        lines.append(json.dumps(record))
    text = "\n".join(lines) + "\n"
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(text, "utf-8")
    return into


def events_of(file: Path, host: str) -> list[EventEnvelope]:
    return list(read_lines(READERS[host](file.stem), file.read_bytes().splitlines(keepends=True)))


def around(events: list[EventEnvelope]) -> Json:
    """A request for all the time of these events."""
    times = [event.timestamp for event in events]
    return REQUEST | {"window": {"after": written(min(times)), "before": written(max(times) + 1)}}


async def transcript(call: OverMcp, request: Json = REQUEST) -> str:
    answer = await call("recall", request=request, limit=8)
    return "\n".join(one["chunk"]["transcript"] for one in answer["sources"])


def rejected(answer: Json) -> dict[str, int]:
    return {one["reason"]: one["count"] for one in answer["selection"]["rejectedSessions"]}


@pytest.mark.promise("team-03")
async def test_item_03_what_was_rewound_and_what_subagents_and_our_own_runner_did_is_absent(
    remora: Asking, root: Path, tmp_path: Path
) -> None:
    talk, ours, two = (
        talk_of("s-1", root),
        talk_of("s-2", tmp_path / "data" / "state" / SCRATCH / "1"),
        talk_of("s-3", root),
    )
    aside = [talk.reply(1, "whispered by a subagent", step=5, agent_id="sub")]
    back = an_event("session/rewound", {"events": ["prompt:s-1:2"]}, session_id="s-1", workspace=str(root))
    await heard(
        remora,
        [*talk.turns(2), *aside, *talk.turn(2, "Go with Kafka."), back, *talk.turn(3), *talk.turn(4), *talk.turn(5)],
    )
    await heard(remora, [event for number in range(5) for event in ours.turn(number, "Asked by ourselves.")])
    await heard(remora, two.turns(2))
    call = OverMcp(remora, str(root))

    answer = await call("recall", request=REQUEST, limit=8)
    said = "\n".join(one["chunk"]["transcript"] for one in answer["sources"])

    assert answer["selection"]["matchedTurns"] == 4 and answer["selection"]["matchedSessions"] == 1
    assert [f"Question {number}?" in said for number in range(6)] == [True, True, False, True, True, False]
    assert not [text for text in ("Kafka", "whispered", "Asked by ourselves") if text in said]
    assert rejected(answer)["too-few-turns"] == 1


@pytest.mark.promise("team-03")
@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("claude/cc-2.0.76-stop-hooks-thinking", "claude-code"),
        ("claude/cc-2.1.39-long-with-compaction", "claude-code"),
        ("claude/cc-1.0.98-long-multi-root", "claude-code"),
        ("codex/codex-real-short", "codex"),
        ("codex/codex-edges", "codex"),
    ],
)
async def test_item_03_a_real_transcript_that_was_imported_is_recalled_with_all_its_sealed_turns(
    remora: Asking, root: Path, tmp_path: Path, name: str, host: str
) -> None:
    file = placed(DATA / f"{name}.jsonl", root, tmp_path / "sessions" / f"{Path(name).name}.jsonl")
    events = events_of(file, host)
    await imported(file, root)
    call, request = OverMcp(remora, str(root)), around(events)

    answer = await call("recall", request=request, limit=8)

    typed = [
        event
        for event in events
        if event.event_type == EventType.USER_MESSAGE
        and event.source_kind is SourceKind.USER
        and event.agent_id == "main"
    ]
    sealed = (
        len(typed)
        - 1
        + any(
            event.event_type == EventType.TURN_END
            for event in events[events.index(typed[-1]) :]
            if event.agent_id == "main"
        )
    )
    enough = sealed >= 3
    assert answer["selection"]["matchedTurns"] == (sealed if enough else 0)
    assert rejected(answer) == ({} if enough else {"too-few-turns": 1})
    narrow = request | {"filters": {"providers": [host]}}
    assert (await call("recall", request=narrow))["selection"]["matchedTurns"] == (sealed if enough else 0)
    other = request | {"filters": {"providers": ["gemini-cli"]}}
    assert (await call("recall", request=other))["selection"]["matchedTurns"] == 0
    said = await transcript(call, request)
    first = json.loads(bytes(typed[0].payload))["text"].strip().splitlines()[0]
    assert not enough or first in said


@pytest.mark.promise("team-03")
async def test_item_03_the_branch_that_a_user_left_in_a_real_transcript_is_absent(
    remora: Asking, root: Path, tmp_path: Path
) -> None:
    file = placed(DATA / "quirks" / "q06-rewind-two-branches.jsonl", root, tmp_path / "s" / "q06.jsonl")
    lines, last = file.read_text("utf-8").splitlines(), "00000000-0000-4000-8000-000000000006"
    common = {"sessionId": json.loads(lines[0])["sessionId"], "cwd": str(root), "type": "user"}
    for number in range(3):
        message = {"role": "user", "content": f"And then {number}?"}
        at = f"2026-11-03T12:0{number}:00.000Z"
        lines.append(
            json.dumps(common | {"uuid": f"more-{number}", "parentUuid": last, "timestamp": at, "message": message})
        )
        last = f"more-{number}"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    await imported(file, root)
    call, request = OverMcp(remora, str(root)), around(events_of(file, "claude-code"))

    said = await transcript(call, request)

    assert "Postgres SKIP LOCKED" in said and "Go with Kafka" not in said


@pytest.mark.promise("team-04")
async def test_item_04_turns_of_all_sessions_are_counted_together(remora: Asking, root: Path) -> None:
    for number in range(4):
        talk = talk_of(f"s-{number}", root, START - (number + 2) * HOUR)
        await heard(remora, talk.turns(51))
    call = OverMcp(remora, str(root))
    request = REQUEST | {"window": {"after": written(START - 24 * HOUR), "before": written(START + HOUR)}}

    found = await call("recall", request=request, limit=1)
    await heard(remora, talk_of("s-0", root).turn(51))

    assert found["selection"]["matchedTurns"] == 200
    fault = await remora.refused("team.recall", workspace=str(root), request=request)
    assert fault.kind == "query-too-broad" and "201" in str(fault)
    narrower = request | {"query": "step-17"}
    assert (await call("recall", request=narrower))["selection"]["matchedTurns"] == 4


@pytest.mark.promise("team-21")
async def test_item_21_a_promoted_entry_has_the_day_the_commit_and_the_path_of_its_turn(
    remora: Asking, root: Path
) -> None:
    git(root, "remote", "add", "origin", "https://user:secret@code.example/org/project.git")
    talk = talk_of("session-of-the-provider", root)
    made = commit(root, {"ci/publish.sh": "exit 1\n"}, "Publish from the release branch", talk.at(1, 40))
    other = commit(root, {"unrelated.txt": "x\n"}, "Something else", talk.at(1, 50))
    edit = {"tool": "edit", "nativeTool": "Edit", "path": f"{root}/ci/publish.sh"}
    await heard(
        remora,
        [
            *talk.turns(1),
            talk.prompt(1, "Publish only from the release branch."),
            talk.call(1, f"{root}/ci/publish.sh\n--- old\n+++ new", step=3, **edit),
            talk.result(1, "edited", step=3, **edit),
            talk.call(1, "git commit -am 'Publish from the release branch'", step=5),
            talk.result(1, f"[main {made[:7]}] Publish from the release branch\n 1 file changed", step=5),
            talk.reply(1, "It is committed."),
            *talk.turn(2),
            *talk.turn(3),
        ],
    )
    call = OverMcp(remora, str(root))

    (task,) = (await call("recall", request=REQUEST))["sources"]
    drafted = await call("stage", document=a_draft(task, 1))
    await call("stage", document=stored(drafted))
    reviewed = await call("review", kind="entry")
    plan = await call("prepare", request=reviewed["approval"]["prepareRequest"])
    applied = await call("promote", planId=plan["planId"])

    (written_file,) = applied["files"]
    data = (root / written_file["targetPath"]).read_bytes()
    entry = parse(data)
    assert isinstance(entry, Entry)
    assert entry.occurred == (day(talk.at(1)),)
    evidence = json.loads(next(line for line in data.decode().splitlines() if line.startswith("evidence:"))[9:])
    assert evidence == {"commits": [{"repo": "code.example/org/project", "hash": made}], "paths": ["ci/publish.sh"]}
    assert other not in data.decode()
    after = read(REQUEST["window"]["after"])
    assert after is not None and after < talk.at(1)
    everything = b"\n".join(path.read_bytes() for path in sorted((root / ".remora-pre").rglob("*")) if path.is_file())
    kept = await remora.world.parts.kept.read(
        lambda c: [
            row[0] for row in c.execute("SELECT turn_key FROM team_turn UNION SELECT session_key FROM team_session")
        ]
    )
    for hidden in ("session-of-the-provider", "user:secret", str(root), str(Path.home()), *kept):
        assert hidden.encode() not in everything, hidden
