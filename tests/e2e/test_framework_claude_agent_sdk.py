"""The Claude Agent SDK itself, with the client it brings, against a scripted model and a real daemon."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.inprocess.companion import Companion
from tests.e2e.driver import QUIET, bash, delegate, reply, summaries
from tests.e2e.frameworks import FAILURE, LESSON, Json, Model, Remora, packets, remora, strings

pytestmark = pytest.mark.client

PROMPT = "Please put the release archive up."
SLOWLY = bash(f"sleep 1; echo '{FAILURE}' >&2; exit 1")  # as an upload is: the client writes its words down meanwhile
FAILING = bash(f"echo '{FAILURE}' >&2; exit 1")
DONE = reply("It has to be split first.")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remora]:
    with remora(tmp_path_factory.mktemp("shared"), lesson="") as one:
        yield one


@pytest.fixture
def here(shared: Remora, tmp_path: Path) -> Remora:
    own = shared.at(tmp_path / "project")
    own.remember(LESSON)
    return own


class Program:
    """A program that runs the SDK in a folder. `heard`: the events its callbacks were called for."""

    def __init__(self, model: Model, folder: Path, companion: Companion, **options: Any) -> None:
        from host.inprocess.claude_agent_sdk import Memory

        self.heard: list[str] = []
        self._memory = Memory(companion)
        self._options: Json = {
            "cwd": folder,
            "model": "claude-opus-5-5",
            "allowed_tools": ["Bash", "Agent"],
            "setting_sources": [],
            "env": QUIET
            | {"HOME": str(folder.parent / "home"), "ANTHROPIC_BASE_URL": model.url}
            | options.pop("env", {}),
        } | options

    async def say(self, *prompts: str, resume: str | None = None) -> str:
        """Turns of one client; the session's id."""
        from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, ResultMessage

        async def noting(payload: Any, tool_use_id: Any, context: Any) -> Any:
            self.heard.append(payload["hook_event_name"])
            return {}

        own: Any = {
            event: [HookMatcher(hooks=[noting])]
            for event in ("UserPromptSubmit", "PreCompact", "PostCompact", "SessionStart", "PostToolBatch", "Stop")
        }
        options = ClaudeAgentOptions(hooks=self._memory.hooks(own), resume=resume, **self._options)
        session = ""
        async with ClaudeSDKClient(options) as client:
            for prompt in prompts:
                await client.query(prompt)
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        session = message.session_id
        return session


def own(model: Model) -> list[Json]:
    """The requests of the conversation itself."""
    return [body for body in model.requests if body.get("tools")]


def system(body: Json) -> str:
    return "\n".join(strings([body.get("system"), body.get("tools")]))


def counts(model: Model) -> list[int]:
    return [len(packets(body)) for body in own(model)]


async def test_a_lesson_enters_the_request_after_the_failure_once(here: Remora) -> None:
    with Model([reply("I will upload it.", FAILING), reply("Once more.", SLOWLY), DONE]) as model:
        program = Program(model, here.workspace, companion := here.companion())
        await program.say(PROMPT)

    assert companion.problem == "" and "PostToolBatch" in program.heard, "one's own callbacks are called, too"
    first, second, third = own(model)
    assert counts(model) == [0, 1, 1] and packets(second) == packets(third)
    newest = second["messages"][-1]
    assert LESSON in json.dumps(newest) and FAILURE in json.dumps(second["messages"][-2:])
    assert not any(LESSON in system(body) for body in (first, second, third))
    assert here.settled() == ["claimed", "delivered"]
    told = here.events()
    assert [kind for kind, _ in told][:2] == ["session/start", "user/message"]
    assert [payload["ok"] for kind, payload in told if kind == "tool/result"] == [False, False]
    said = [payload["text"] for kind, payload in told if kind == "assistant/message"]
    assert said == ["I will upload it.", "Once more.", "It has to be split first."]


async def test_a_session_that_another_process_goes_on_with_is_told_nothing_twice(here: Remora) -> None:
    with Model([reply("I will upload it.", FAILING), DONE, reply("You are welcome.")]) as model:
        session = await Program(model, here.workspace, here.companion()).say(PROMPT)
        again = await Program(model, here.workspace, here.companion()).say("Thank you, that helps.", resume=session)

    assert session == again
    assert counts(model) == [0, 1, 1] and here.settled() == ["claimed", "delivered"]
    told = here.events()
    assert [payload["source"] for kind, payload in told if kind == "session/start"] == ["startup", "resume"]
    prompts = [payload["text"] for kind, payload in told if kind == "user/message"]
    assert prompts == [PROMPT, "Thank you, that helps."]


async def test_after_a_compaction_the_lesson_comes_once_more(here: Remora) -> None:
    steps = [reply("I will upload it.", FAILING), reply("I wait.", bash("echo 1"), tokens=98_000)]
    with Model([*summaries("Uploading."), *steps, reply("And again.", bash("echo 2")), DONE]) as model:
        window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
        await Program(model, here.workspace, here.companion(), env=window).say(PROMPT)

    talk = [body for body in own(model) if "Your task is to create a" not in json.dumps(body["messages"][-1])]
    (before,), (same,), (after,), (kept,) = [packets(body) for body in talk[1:]]
    assert before == same != after == kept
    assert here.settled() == ["claimed", "delivered"] * 2
    starts = [payload["source"] for kind, payload in here.events() if kind == "session/start"]
    assert starts == ["startup", "compact"]


async def test_a_subagent_gets_nothing(here: Remora) -> None:
    inside = {"when": "INSIDE", "unless": "Over to it."}
    script = [
        reply("Over to it.", delegate(f"INSIDE: {PROMPT}")),
        reply("I will upload it.", FAILING) | inside,
        DONE | inside,
        reply("It is done."),
    ]
    with Model(script) as model:
        await Program(model, here.workspace, here.companion()).say(PROMPT)

    subagent = [body for body in model.requests if "INSIDE" in json.dumps(body["messages"][0])]
    assert len(subagent) == 2 and FAILURE in json.dumps(subagent[1]) and not any(packets(body) for body in subagent)
    assert here.settled() == []


async def test_without_a_daemon_the_run_is_what_it_would_be(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    companion = Companion(tmp_path / "project", socket=tmp_path / "none" / "s")
    with Model([reply("I will upload it.", FAILING), DONE]) as model:
        await Program(model, tmp_path / "project", companion).say(PROMPT)

    assert counts(model) == [0, 0] and "start" in companion.problem


async def test_a_daemon_that_hangs_blocks_nothing(tmp_path: Path) -> None:
    with remora(tmp_path) as place, Model([reply("I will upload it.", FAILING), DONE]) as model:
        assert place.daemon.process is not None
        hung = place.daemon.process
        model.at(0, lambda: hung.send_signal(signal.SIGSTOP))
        companion = place.companion(seconds=0.3)
        await Program(model, place.workspace, companion).say(PROMPT)
        hung.send_signal(signal.SIGCONT)

    assert counts(model) == [0, 0] and "in time" in companion.problem
    assert FAILURE in json.dumps(own(model)[1]), "the tool has run, and its result was not kept back"
