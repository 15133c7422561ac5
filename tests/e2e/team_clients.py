"""The whole loop of the team workflow by real clients, and the same loop by our own command line, over one daemon.

    with Place(folder) as place:                    a repository, and a session of the day before in it
        by_hand = place.loop(in_a_shell)
        claude = place.loop(in_claude_code)         each begins with the same data, the same secret, the same paths

Nobody writes an agent's answers beforehand: what it does next is made of the documents that came back to it, as the
request of its client shows them (`following`).
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from governance.team.times import written
from host import namespace
from tests.e2e import codex_driver, driver
from tests.e2e.installed import client, ours
from tests.e2e.mcp_entries import call_in_claude, call_in_codex, for_claude, for_codex
from tests.fake_model.fake_model import Script, offers_tools
from tests.support.daemon import RunningDaemon
from tests.support.team_history import HOUR, a_repository, git
from tests.support.team_loop import stored

Json = dict[str, Any]
LESSON = "When make seal fails with SealBrokenError, the stale stamp build/seal.stamp has to go first."
SAID = ("Please seal the release", f"It failed again. {LESSON}", "Now tag it", "Thanks, that is all")
LEARNED = 1  # the turn that says so
ASKED, YES = "What did the team learn yesterday?", "Yes, write exactly that."
MAY_I, WRITTEN, REFUSED = "I would write this:", "Written.", "I was refused."
DOCUMENT = '{"format":"'  # how an answer begins that is no refusal
TOOLS = ("memory_recall", "memory_stage", "memory_review", "memory_prepare", "memory_promote")
STEPS = ("recall", "draft", "staged", "review", "plan", "applied")  # what comes back, in this order
FOLDER = ".remora-pre"


@dataclass(frozen=True)
class Step:
    """One call of an operation."""

    operation: str
    given: Json


def following(read: Sequence[Json], agreed: bool, request: Json) -> Step | None:
    """What the agent does next, having read these documents; None: it speaks to its user."""
    match len(read):
        case 0:
            return Step("recall", {"request": request})
        case 1:
            return Step("stage", {"document": a_draft(read[0]["sources"][0])})
        case 2:
            return Step("stage", {"document": stored(read[1])})
        case 3:
            return Step("review", {"kind": "entry"})
        case 4 if agreed:
            return Step("prepare", {"request": read[3]["approval"]["prepareRequest"]})
        case 5:
            return Step("promote", {"planId": read[4]["planId"]})
    return None


def a_draft(task: Json) -> Json:
    """What the user said, as a fact that cites the turn."""
    (cited,) = [one["evidenceId"] for one in task["chunk"]["turnEvidence"] if one["turnIndex"] == LEARNED]
    assert LESSON in task["chunk"]["transcript"]
    draft = {"content": LESSON, "type": "work_fact", "priority": 70, "confidence": "high", "scene": None}
    draft |= {"statements": [{"statementId": "s1", "text": LESSON, "evidenceIds": [cited]}]}
    echoed = {"taskId": task["taskId"], "binding": task["binding"], "leaseToken": task["lease"]["token"]}
    return (
        {"format": task["contract"]["draftSchema"].split('"const":"')[1].split('"')[0]}
        | echoed
        | {"candidates": [draft]}
    )


class Agent(Script):
    """A model that reads: `results` are the texts of the tools' results in a request, `call` names a tool."""

    def __init__(self, request: Json, results: Callable[[Json], list[str]], call: Callable[..., Json]) -> None:
        super().__init__({}, {})
        self._request = request
        self._results = results
        self._call = call
        self.read: list[Json] = []
        self.refused: list[str] = []

    def next(self, body: Json) -> tuple[str, Json]:
        if not offers_tools(body):
            return "side", self.side
        texts = self._results(body)
        self.refused = [text for text in texts if DOCUMENT not in text]
        self.read = [json.loads(text[text.index(DOCUMENT) :]) for text in texts if DOCUMENT in text]
        if self.refused:
            return "refused", driver.reply(REFUSED)
        step = following(self.read, YES in json.dumps(body), self._request)
        label = f"replies[{len(self.read)}]"
        if step is not None:
            return label, driver.reply("", self._call(f"memory_{step.operation}", **step.given))
        return label, driver.reply(WRITTEN if len(self.read) == len(STEPS) else shown_of(self.read))


def shown_of(read: Sequence[Json]) -> str:
    """What the user is shown of a review."""
    return "\n".join([MAY_I, *(one["content"] for one in read[3]["approval"]["changes"])])


def results_in_claude(body: Json) -> list[str]:
    """Of every tool, in order; a result is a text or a list of parts."""
    blocks = [block for one in body["messages"] if isinstance(one["content"], list) for block in one["content"]]
    contents = [block["content"] for block in blocks if block.get("type") == "tool_result"]
    return [one if isinstance(one, str) else "".join(part["text"] for part in one) for one in contents]


def results_in_codex(body: Json) -> list[str]:
    """Of every tool, in order; each begins with the time that it took."""
    return [str(one["output"]) for one in body["input"] if one.get("type") == "function_call_output"]


@dataclass(frozen=True)
class Talk:
    """One conversation: the documents and refusals that the agent read, what it showed before the yes, and its end."""

    read: list[Json]
    refused: list[str]
    shown: str
    said: str


@dataclass(frozen=True)
class Ended:
    """How a loop ended: the documents by step, what the user was shown before the yes, and the files."""

    documents: dict[str, Json]
    shown: str
    files: dict[str, bytes]


@dataclass
class Place:
    """A repository with a user's work in it, the session of the day before, and a daemon that can be put back."""

    folder: Path
    said: Sequence[str] = SAID
    now: int = field(default_factory=lambda: time.time_ns() // 1_000_000)

    def __post_init__(self) -> None:
        self.project = a_repository(self.folder / "project")
        (self.project / "staged.txt").write_text("the user's own\n")
        git(self.project, "add", "staged.txt")
        self.daemon = RunningDaemon(self.folder / "d")
        self.request = {
            "format": "remora-pre-extraction-request@v1",
            "window": {"after": written(self.now - 48 * HOUR), "before": written(self.now)},
        }

    def __enter__(self) -> Self:
        self.daemon.start()
        with self.daemon.connect() as wire:
            wire.call(
                "event.append", events=a_session(str(self.project), self.said, self.now - 24 * HOUR), host="codex"
            )
        ours(self.daemon, self.project, "team", "status")  # the repository is known from here on, by a secret name
        self.daemon.stop()
        shutil.copytree(self.daemon.data, self.folder / "data")
        return self

    def __exit__(self, *_: object) -> None:
        self.daemon.stop()

    def put_back(self) -> None:
        """As it was before the first loop; the daemon runs."""
        self.daemon.stop()
        for gone in (self.daemon.data, self.folder / "home"):
            shutil.rmtree(gone, ignore_errors=True)
        git(self.project, "clean", "-fdxq")
        (self.project / ".git" / "info" / "exclude").write_text("")
        shutil.copytree(self.folder / "data", self.daemon.data)
        self.daemon.start()

    def files(self) -> dict[str, bytes]:
        """Of the memory: what `init` lays beside it is no part of a promotion."""
        found = (path for path in (self.project / FOLDER / "memory").rglob("*.md"))
        return {str(path.relative_to(self.project)): path.read_bytes() for path in found}

    def seen_by_git(self) -> tuple[str, bytes, str]:
        """HEAD, the index's bytes, and what is staged."""
        index = (self.project / ".git" / "index").read_bytes()
        return git(self.project, "rev-parse", "HEAD"), index, git(self.project, "diff", "--cached")

    def changed(self) -> list[str]:
        return git(self.project, "status", "--short", "--untracked-files=all").splitlines()

    def ask(self, *line: str) -> Json:
        found: Json = json.loads(ours(self.daemon, self.project, *line, "--json"))
        return found

    def loop(self, way: "Callable[[Place], Talk]") -> Ended:
        """The whole loop, from the beginning."""
        self.put_back()
        talk = way(self)
        assert (talk.refused, talk.said) == ([], WRITTEN)
        return Ended(dict(zip(STEPS, talk.read, strict=True)), talk.shown, self.files())


def nothing_yet(place: Place) -> None:
    assert place.files() == {}


def in_claude_code(place: Place, meanwhile: Callable[[Place], None] = nothing_yet) -> Talk:
    """One conversation with one process of the real Claude Code: a question, and a yes. `meanwhile`: between them."""
    agent = Agent(place.request, results_in_claude, call_in_claude)
    with driver.Model(agent) as model:
        claude = client(place.folder, model, place.daemon)
        for_claude(claude, *TOOLS)
        with driver.Conversation(claude) as conversation:
            shown = conversation.turn(ASKED)["result"]
            meanwhile(place)
            said = conversation.turn(YES)["result"]
    return Talk(agent.read, agent.refused, shown, said)


def in_codex(place: Place, meanwhile: Callable[[Place], None] = nothing_yet) -> Talk:
    """One conversation with the real Codex, a process a turn: a question, and a yes. `meanwhile`: between them."""
    agent = Agent(place.request, results_in_codex, call_in_codex)
    with codex_driver.Model(agent) as model:
        codex = codex_driver.client_of(place.folder, model, place.daemon)
        for_codex(codex)
        first = codex.say(ASKED)
        meanwhile(place)
        second = codex.say(YES, resume=first.session_id)
    assert (first.code, second.code, second.session_id) == (0, 0, first.session_id)
    return Talk(agent.read, agent.refused, first.result, second.result)


def in_a_shell(place: Place, meanwhile: Callable[[Place], None] = nothing_yet) -> Talk:
    """Our own command line, a process a step."""
    read: list[Json] = []
    for agreed in (False, True):
        while (step := following(read, agreed, place.request)) is not None:
            read.append(typed(place, step))
        if not agreed:
            meanwhile(place)
    return Talk(read, [], shown_of(read), WRITTEN)


def typed(place: Place, step: Step) -> Json:
    """One command, its document on standard input."""
    document = step.given.get("request") or step.given.get("document")
    options = {"kind": "--kind", "planId": "--plan"}
    line = [word for key, option in options.items() if key in step.given for word in (option, step.given[key])]
    line += ["--request", "-"] if document else []
    done = subprocess.run(
        [str(Path(sys.executable).parent / namespace.SCRIPT), step.operation, *line, "--json"],
        cwd=place.project,
        env=place.daemon.environment(),
        input=json.dumps(document),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: Json = json.loads(done.stdout)
    return found


def a_session(folder: str, said: Sequence[str], at: int) -> list[Json]:
    """A session of an agent there; each sentence of the user is a turn, and the last one is open."""
    events = list[Json]()

    def told(kind: str, source: str, payload: Json, **fields: Any) -> None:
        about = {"sessionId": "yesterday", "agentId": "main", "workspace": folder, "schemaVersion": 1}
        about |= {"channel": "session", "eventType": kind, "sourceKind": source, "payload": payload}
        events.append(about | {"timestamp": at + len(events) * 1000, "eventId": f"e{len(events)}"} | fields)

    told("session/start", "lifecycle", {"source": "startup"})
    for number, sentence in enumerate(said):
        call = {"channel": "tools", "callId": f"c{number}"}
        told("user/message", "user", {"text": sentence})
        told("tool/call", "agent", {"tool": "Bash", "args": '{"command": "make seal"}'}, **call)
        told("tool/result", "tool", {"tool": "Bash", "text": "done", "ok": True}, **call)
        told("assistant/message", "agent", {"text": f"Step {number} is done."})
    return events
