"""The daemon killed at any moment of a promotion of twenty files, of an assembly and of `init`: after the next start
the tree is whole, nothing hidden is left anywhere in the repository, and the next call works at once."""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from governance.team.disk import NEW, beside
from governance.team.times import written
from tests.support.daemon import Refused, RunningDaemon, Wire
from tests.support.team_history import a_repository, git
from tests.support.team_loop import a_draft, stored

Json = dict[str, Any]
HOUR = 3_600_000
FILES = 20
ROUNDS = 6
ENTRIES = ".remora-pre/memory/entries"
PATIENCE_SECONDS = 10.0
pytestmark = pytest.mark.reliability


class Killing:
    """A repository, and a daemon that is killed and started again."""

    def __init__(self, folder: Path, seed: int = 7) -> None:
        self.root = a_repository(folder / "repository")
        self.daemon = RunningDaemon(folder / "daemon")
        self.chance = random.Random(seed)
        self._sessions = 0
        self.wire: Wire
        self.start()

    def start(self) -> None:
        self.daemon.start()
        self.wire = self.daemon.connect()

    def __call__(self, operation: str, **given: Any) -> Json:
        who: Json = {"workspace": str(self.root), "principal": "agent", "holder": "t"}
        return self.wire.call(f"team.{operation}", **who, **given)

    def killed(self, act: Callable[[], object], longest: float) -> None:
        """Killed somewhere in `act`, or just after it, and started again."""

        def to_its_end() -> None:
            with contextlib.suppress(ConnectionError, OSError):
                act()

        thread = threading.Thread(target=to_its_end)
        thread.start()
        time.sleep(self.chance.random() * longest)
        self.daemon.kill()
        thread.join()
        self.wire.close()
        self.start()

    def plan(self) -> tuple[Json, list[str]]:
        """An approved plan of that many entries, and its paths."""
        left = FILES
        while left:
            task = self("recall", request=self._request())["sources"][0]
            self._stage(task, min(8, left))
            left -= min(8, left)
        review = self("review", kind="entry")["approval"]
        return self("prepare", document=review["prepareRequest"]), [one["targetPath"] for one in review["changes"]]

    def hidden(self) -> list[str]:
        return [str(path.relative_to(self.root)) for path in self.root.rglob(".rpx-*")]

    def tidy(self) -> bool:
        """Whether nothing hidden is left soon after a start."""
        last = time.monotonic() + PATIENCE_SECONDS
        while self.hidden() and time.monotonic() < last:
            time.sleep(0.02)
        return not self.hidden()

    def _request(self) -> Json:
        """A conversation that nobody looked at yet."""
        self._sessions += 1
        at = int(time.time() * 1000) - 400 * HOUR + self._sessions * HOUR
        events: list[Json] = []
        about = {"sessionId": f"s{self._sessions}", "agentId": "main", "workspace": str(self.root), "schemaVersion": 1}

        def told(kind: str, source: str, payload: Json) -> None:
            place = {"timestamp": at + len(events) * 1000, "eventId": f"{about['sessionId']}-{len(events)}"}
            named = {"channel": "session", "eventType": kind, "sourceKind": source, "payload": payload}
            events.append({**about, **named, **place})

        told("session/start", "lifecycle", {"source": "startup"})
        for said in ("publish it", "it failed", "tag it", "thanks"):
            told("user/message", "user", {"text": f"{said}, {self._sessions}"})
            told("assistant/message", "agent", {"text": "Done."})
        self.wire.call("event.append", events=events, host="claude-code")
        window = {"after": written(at - 1000), "before": written(at + HOUR - 2000)}
        return {"format": "remora-pre-extraction-request@v1", "window": window}

    def _stage(self, task: Json, number: int) -> None:
        batch = a_draft(task, 1)
        (model,) = batch["candidates"]
        batch["candidates"] = [
            {**model, "content": text, "statements": [{**model["statements"][0], "text": text}]}
            for text in (f"Rule {self._sessions} number {n} comes before the release." for n in range(number))
        ]
        self("stage", document=stored(self("stage", document=batch)))


@pytest.fixture
def killing(tmp_path: Path) -> Iterator[Killing]:
    made = Killing(tmp_path)
    yield made
    made.wire.close()
    made.daemon.kill()


def test_a_promotion_of_twenty_files_is_whole_after_a_kill_and_status_answers_at_once(killing: Killing) -> None:
    head, index = git(killing.root, "rev-parse", "HEAD"), (killing.root / ".git" / "index").read_bytes()
    for number in range(1, ROUNDS + 1):
        plan, paths = killing.plan()
        killing.killed(partial(killing, "promote", planId=plan["planId"]), 0.3)
        killing("status")  # while the start still finishes, or takes back
        assert killing("promote", planId=plan["planId"])["applied"]
        status = killing("status")
        assert (status["stuck"], status["candidates"]) == ([], {"promoted": FILES * number})
        assert killing.tidy(), killing.hidden()
        assert all((killing.root / path).is_file() for path in paths)
        assert len(list((killing.root / ENTRIES).iterdir())) == FILES * number
    assert (git(killing.root, "rev-parse", "HEAD"), (killing.root / ".git" / "index").read_bytes()) == (head, index)
    assert "Traceback" not in killing.daemon.log.read_text()


def test_what_an_assembly_or_a_set_up_left_when_it_was_killed_goes_at_the_next_start(killing: Killing) -> None:
    """Beside CLAUDE.md nothing has git pass over it: an `add --all` would commit it."""
    killing("init")
    skill = ".claude/skills/release-pre/SKILL.md"
    left = [beside(path, "assemble", f"assemble{NEW}") for path in ("CLAUDE.md", "AGENTS.md", skill)]
    left += [beside(path, "init", NEW) for path in (".remora-pre/.gitignore", ".remora-pre/memory/index.json")]
    (killing.root / skill).parent.mkdir(parents=True)
    for path in left:
        (killing.root / path).write_bytes(b"half")
    strangers = killing.root / ".rpx-0123.hold"
    strangers.write_bytes(b"of nobody we know")

    killing.daemon.kill()
    killing.wire.close()
    killing.start()
    last = time.monotonic() + PATIENCE_SECONDS
    while len(killing.hidden()) > 1 and time.monotonic() < last:
        time.sleep(0.02)
    assert killing.hidden() == [strangers.name]
    with pytest.raises(Refused):
        killing("assemble", provider="nobody")
    assert killing("assemble", provider="claude")["files"][0]["changed"] is False
