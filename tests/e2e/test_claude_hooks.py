"""What we rely on in the real Claude Code, held against a stub: should a new version change it, this says so first."""

import json
from pathlib import Path

import pytest

from tests.e2e.driver import Claude, Model, bash, read, reply, summaries
from tests.e2e.stub_hooks import StubHooks

pytestmark = pytest.mark.client
TEXT = "the parser keeps its cache in zebra.bin"


def test_context_from_a_post_tool_batch_hook_stands_once_in_each_later_request(tmp_path: Path) -> None:
    replies = [reply("one", bash("exit 3")), reply("two", bash("echo hi")), reply("three")]
    with StubHooks(PostToolBatch=[TEXT]) as hooks, Model(replies) as model:
        claude = Claude(tmp_path, model)
        claude.settings(hooks.settings("PostToolBatch"))
        first = claude.say("Check app.py")
        claude.say("And now?", resume=first.session_id)
    assert first.code == 0 and first.result == "three"
    assert [r.mentions(TEXT) for r in model.requests] == [0, 1, 1, 1]
    assert not any(r.in_system(TEXT) for r in model.requests)


def test_session_start_takes_a_command_hook_and_shows_its_context_in_the_first_request(tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": TEXT}}
    with StubHooks() as hooks, Model([reply("one", bash("echo hi")), reply("two")]) as model:
        claude = Claude(tmp_path, model)
        claude.settings(hooks.settings("UserPromptSubmit", command=f"printf '%s' '{json.dumps(answer)}'"))
        assert claude.say("Check app.py").code == 0
    assert [r.mentions(TEXT) for r in model.requests] == [1, 1]
    assert [h["prompt"] for h in hooks.heard] == ["Check app.py"]


def test_compaction_wipes_injected_context_and_announces_itself(tmp_path: Path) -> None:
    with StubHooks(UserPromptSubmit=[TEXT]) as hooks:
        app = tmp_path / "project" / "app.py"
        replies = [
            *summaries("The user asked to check app.py."),
            reply("one", read(app)),
            reply("two", read(app), tokens=97_000),
            reply("three", read(app)),
            reply("four"),
        ]
        with Model(replies) as model:
            claude = Claude(tmp_path, model, env={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"})
            app.write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
            mark = tmp_path / "started"
            claude.settings(hooks.settings("UserPromptSubmit", "PreCompact", command=f"cat >> {mark}"))
            assert claude.say("Check app.py").code == 0
    talk = [r for r in model.requests if "Your task is to create a" not in r.whole()]
    assert [r.mentions(TEXT) for r in talk] == [1, 1, 0, 0]
    assert '"source":"compact"' in mark.read_text(encoding="utf-8").replace(" ", "")
    assert "PreCompact" in {h["hook_event_name"] for h in hooks.heard}


def test_a_refused_hook_disturbs_nothing(tmp_path: Path) -> None:
    with StubHooks(PostToolBatch=[TEXT, TEXT]) as hooks:
        replies = [reply("one", bash("echo a")), reply("two", bash("echo b")), reply("three")]
        with Model(replies, at={1: hooks.close}) as model:
            claude = Claude(tmp_path, model)
            claude.settings(hooks.settings("PostToolBatch", "PostToolUse"))
            run = claude.say("Check app.py")
    assert (run.code, run.result, model.played) == (0, "three", 3)
    assert [r.mentions(TEXT) for r in model.requests] == [0, 1, 1]
