"""What OpenCode's plugin tells: captured calls, and calls in the plugin's own form."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host import namespace
from host.adapters.opencode import OUTPUT_LIMIT, REQUEST, decode, encode
from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from recall.contracts import EventEnvelope, SourceKind
from tests.host.adapters import goldens

Json = dict[str, Any]
CAPTURES = goldens.captures("opencode")
CAPTURE = Path(__file__).parents[2] / "data/hosts/opencode/basic"
PLUGIN = Path(__file__).parents[3] / "host/setup/data" / f"{namespace.name()}.js"
NOW = 1_795_980_000_000
MESSAGE = {"id": "msg_1", "role": "user", "sessionID": "ses_1", "model": {"modelID": "m-1"}, "time": {"created": 5}}


def heard(hook: str, given: Json | None = None, output: Json | None = None, **more: object) -> Heard:
    told = {"hook": hook, "input": given or {}, "output": output, "directory": "/p", "session": "ses_1", **more}
    return decode(json.dumps(told).encode(), 7)


def bus(kind: str, properties: Json | None = None, **more: object) -> Heard:
    return heard("event", {"type": kind, "properties": properties or {}}, **more)


def told(what: Heard) -> list[tuple[str, Json]]:
    return [(event.event_type, json.loads(bytes(event.payload))) for event in what.envelopes]


def a_part(tool: str, state: Json, **more: object) -> Json:
    return {
        "id": "prt_1",
        "messageID": "msg_2",
        "type": "tool",
        "tool": tool,
        "callID": "call_1",
        "state": state,
        **more,
    }


def completed(tool: str, given: Json, output: str, **metadata: object) -> Heard:
    state = {
        "status": "completed",
        "input": given,
        "output": output,
        "metadata": metadata,
        "time": {"start": 1, "end": 2},
    }
    return bus("message.part.updated", {"part": a_part(tool, state)})


def request(*messages: Json, **more: object) -> Heard:
    return heard(REQUEST, {}, {"messages": list(messages), **more})


# ---------------------------------------------------------------------------- captures


def passed_on() -> list[bytes]:
    """The captured calls, as our plugin passes them on: by their full names, with the folder it was started in."""
    calls = [json.loads(line) for line in (CAPTURE / "plugin_events.jsonl").read_text("utf-8").splitlines()]
    full = {"messages.transform": REQUEST}
    return [
        json.dumps(
            {
                "hook": full.get(call["hook"], call["hook"]),
                "input": call["input"],
                "output": call["output"],
                "directory": "/home/dev/project",
            }
        ).encode()
        for call in calls
    ]


def golden(raw: bytes) -> str:
    try:
        what = decode(raw, NOW)
    except ProtocolFault as fault:
        return json.dumps({"refused": fault.kind})
    said = [fields(event) for event in what.envelopes]
    return json.dumps({"event": what.event, "surface": what.surface, "told": said}, ensure_ascii=False, sort_keys=True)


def fields(envelope: EventEnvelope) -> Json:
    told: Json = json.loads(msgspec.json.encode(envelope))
    dull = ("schemaVersion", "eventSeq", "sessionId", "observedAt", "workspace")
    return {key: value for key, value in told.items() if value is not None and key not in dull}


def test_every_captured_call_tells_what_is_expected() -> None:
    assert [golden(raw) for raw in passed_on()] == (CAPTURE / "expected.jsonl").read_text("utf-8").splitlines()


def test_a_captured_session_is_told_once() -> None:
    events = {}
    for raw in passed_on():
        if golden(raw).startswith('{"refused"'):
            continue
        for event in decode(raw, NOW).envelopes:
            assert events.setdefault(event.event_id, bytes(event.payload)) == bytes(event.payload)
    kinds = [str(name).partition(":")[0] for name in events]
    assert sorted(kinds) == sorted(
        ["client", "client", "start", "prompt", "reply", "call", "result", "call", "result", "reply", "None"]
    )


@pytest.mark.parametrize("path", CAPTURES, ids=[path.name for path in CAPTURES])
def test_what_the_plugin_itself_has_passed_on_tells_what_is_expected(path: Path) -> None:
    assert goldens.told("opencode", path) == goldens.expected(path)


def test_a_captured_session_that_was_resumed_and_compacted_is_told_once() -> None:
    (path,) = CAPTURES
    told = [decode(json.dumps(payload).encode()) for payload in goldens.payloads(path)]
    events = [event for what in told for event in what.envelopes]
    names = [event.event_id for event in events if event.event_id and not event.event_id.startswith("client:")]
    main = [json.loads(bytes(e.payload)) | {"kind": e.event_type} for e in events if e.agent_id == "main"]

    assert len(names) == len(set(names))
    assert [said["text"] for said in main if said["kind"] == "user/message"] == ['"Have it done"', '"And the next"']
    assert [said["text"] for said in main if said["kind"] == "assistant/message"] == [
        *("I will delegate.", "Three at once.", "Reading.", "Broken.", "Enough.", "Going on.", "Done.")
    ]
    assert [said["ok"] for said in main if said["kind"] == "tool/result"].count(False) == 3
    assert [said["text"] for said in main if said["kind"] == "session/compact"] == ["## Goal\nRelease."]
    assert {what.surface for what in told if what.agent_id != "main"} == {None}
    assert len({event.session_id for event in events}) == 1


# ---------------------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("what", "surface", "expected"),
    [
        (
            bus("session.created", {"info": {"id": "ses_1", "version": "1.18.33"}}),
            None,
            [("session/client", {"version": "1.18.33"}), ("session/start", {"source": "startup"})],
        ),
        (heard("session.resumed", {"info": {}}), None, [("session/start", {"source": "resume"})]),
        (
            heard(
                "chat.message",
                {},
                {
                    "message": MESSAGE,
                    "parts": [{"type": "text", "text": " Hi. "}, {"type": "text", "text": "x", "synthetic": True}],
                },
            ),
            None,
            [("session/client", {"model": "m-1"}), ("user/message", {"text": "Hi."})],
        ),
        (
            heard("chat.message", {}, {"message": {"id": "msg_1"}, "parts": [{"type": "file", "mime": "image/png"}]}),
            None,
            [("user/message", {"text": "", "images": 1})],
        ),
        (heard("chat.message", {}, {"message": MESSAGE, "parts": []}), None, []),
        (
            bus("message.part.updated", {"part": {"id": "prt_1", "type": "text", "text": "Yes.", "time": {"end": 9}}}),
            None,
            [("assistant/message", {"text": "Yes."})],
        ),
        (bus("message.part.updated", {"part": {"id": "prt_1", "type": "text", "text": "Ye"}}), None, []),
        (bus("session.compacted", {"messageID": "msg_9"}), None, [("session/compact", {})]),
        (bus("session.idle", {"messageID": "msg_9"}), None, [("turn/end", {})]),
        (bus("session.deleted", {}), None, [("session/end", {"source": "deleted"})]),
        (heard("dispose", {}), None, [("session/end", {"source": "exit"})]),
        (bus("an.event.of.tomorrow", {"a": [None]}), None, []),
        (heard("a.hook.of.tomorrow", {"a": 1}, {"b": 2}), None, []),
        (request(last={"role": "user"}), Surface.USER_PROMPT, []),
        (request(last={"role": "assistant"}), Surface.POST_TOOL, []),
        (request(last={"role": "assistant"}, ready=False), None, []),
        (request(), None, []),
    ],
)
def test_each_call_tells_its_own(what: Heard, surface: Surface | None, expected: list[tuple[str, Json]]) -> None:
    assert told(what) == expected
    assert what.surface is surface
    assert {(event.session_id, event.agent_id, event.workspace) for event in what.envelopes} <= {
        ("ses_1", "main", "/p")
    }


def test_a_call_and_its_result_are_told_when_it_ended() -> None:
    what = completed("bash", {"command": "make"}, "boom\n", exit=2)
    assert told(what) == [
        ("tool/call", {"tool": "shell", "args": "make", "nativeTool": "bash"}),
        ("tool/result", {"tool": "shell", "nativeTool": "bash", "ok": False, "text": "boom\n"}),
    ]
    assert [(e.event_id, e.call_id, e.timestamp) for e in what.envelopes] == [
        ("call:prt_1", "call_1", 1),
        ("result:prt_1", "call_1", 2),
    ]
    assert told(completed("bash", {"command": "ls"}, "a", exit=0))[1][1]["ok"] is True
    running = a_part("bash", {"status": "running", "input": {}})
    assert told(bus("message.part.updated", {"part": running})) == []


@pytest.mark.parametrize(
    ("error", "denied"),
    [
        ("File not found: /p/a", None),
        ("The user rejected permission to use this specific tool call.", True),
        ("The user has specified a rule which prevents you from using this specific tool call.", True),
    ],
)
def test_a_tool_that_failed_says_why(error: str, denied: bool | None) -> None:
    part = a_part("read", {"status": "error", "input": {"filePath": "/p/a"}, "error": error})
    result = told(bus("message.part.updated", {"part": part}))[1][1]
    assert (result["ok"], result["text"], result.get("denied")) == (False, error, denied)


def test_the_conversation_before_a_request_tells_what_no_other_call_has() -> None:
    part = a_part("bash", {"status": "completed", "input": {"command": "ls"}, "output": "a", "metadata": {"exit": 0}})
    prompt = {"info": MESSAGE, "parts": [{"type": "text", "text": "Hi."}]}
    answer = {
        "info": {"id": "msg_2", "role": "assistant"},
        "parts": [part, {"id": "prt_0", "type": "text", "text": "So.", "time": {"end": 3}}],
    }
    what = request(prompt, answer)

    assert what.surface is Surface.POST_TOOL
    assert [event.event_id for event in what.envelopes] == [
        *("client:ses_1::m-1", "prompt:msg_1", "call:prt_1", "result:prt_1", "reply:prt_0")
    ]
    alone = bus("message.part.updated", {"part": part}).envelopes
    assert [bytes(e.payload) for e in what.envelopes[2:4]] == [bytes(e.payload) for e in alone]


def test_a_request_tells_which_texts_of_ours_the_conversation_holds() -> None:
    frame = f"<{namespace.name('memory')} 0123456789abcdef>"
    assert request(last={"role": "user"}, shown=[frame, 5, None]).shown == (frame,)
    assert request(last={"role": "user"}, shown="x").shown == request(last={"role": "user"}).shown == ()


def test_a_read_tells_which_lines_were_shown() -> None:
    body = "1: one\n2: two\n\n(End of file - total 2 lines)"
    output = f"<path>/p/a.md</path>\n<type>file</type>\n<content>\n{body}\n</content>"
    result = told(completed("read", {"filePath": "/p/a.md"}, output))[1][1]
    assert (result["read"]["path"], result["read"]["lineStart"], result["read"]["lineCount"]) == ("/p/a.md", 1, 2)


def test_a_session_that_another_started_is_its_subagent_and_gets_nothing() -> None:
    born = bus("session.created", {"info": {"id": "ses_2", "parentID": "ses_1"}}, session="ses_2")
    asked = heard(
        "chat.message",
        {},
        {"message": MESSAGE, "parts": [{"type": "text", "text": "Look."}]},
        session="ses_2",
        root="ses_1",
    )
    before = heard(REQUEST, {}, {"messages": [], "last": {"role": "user"}}, session="ses_2", root="ses_1")
    ended = bus("session.idle", {}, session="ses_2", root="ses_1")

    assert [event.event_type for what in (born, asked, ended) for event in what.envelopes] == [
        *("agent/spawn", "user/message", "agent/stop")
    ]
    assert {(e.session_id, e.agent_id) for what in (born, asked, ended) for e in what.envelopes} == {("ses_1", "ses_2")}
    assert asked.envelopes[0].source_kind is SourceKind.AGENT
    assert (before.surface, before.session_id, before.agent_id) == (None, "ses_1", "ses_2")
    assert told(heard("dispose", {}, session="ses_2", root="ses_1")) == []


def test_names_of_another_form_are_digested() -> None:
    odd = heard(
        "chat.message", {}, {"message": {"id": "a/../b c"}, "parts": [{"type": "text", "text": "x"}]}, session="../x"
    )
    (event,) = odd.envelopes
    assert re.fullmatch(r"[0-9a-f]{32}", event.session_id)
    assert re.fullmatch(r"prompt:[0-9a-f]{32}", event.event_id or "")


def test_case_own_sessions_tell_nothing() -> None:
    raw = json.dumps(
        {"hook": REQUEST, "session": "s", "directory": "/u/dev/.state/x", "output": {"last": {"role": "user"}}}
    ).encode()
    what = decode(raw, 7, own=("/u/dev/.state",))
    assert (what.envelopes, what.surface) == ((), None)


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"session": "s"}, "bad-payload"),
        ({"hook": 5}, "bad-payload"),
        ({"hook": "event", "input": {"type": "x"}}, "no-owner"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_with_its_reason(payload: Json, kind: str) -> None:
    with pytest.raises(ProtocolFault) as caught:
        decode(json.dumps(payload).encode())
    assert caught.value.kind == kind


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
CALLS = (
    "session.created",
    "message.part.updated",
    "session.idle",
    "session.compacted",
    "chat.message",
    REQUEST,
    "dispose",
)


@given(st.sampled_from(CALLS), ANYTHING, ANYTHING, ANYTHING)
def test_whatever_a_call_holds_breaks_nothing(call: str, properties: object, part: object, message: object) -> None:
    given = {"type": call, "properties": {"part": part, "info": properties, "messageID": message}}
    output = {
        "message": message,
        "parts": [part],
        "messages": [message, {"info": properties, "parts": [part]}],
        "last": part,
    }
    for hook in ("event", call):
        what = decode(json.dumps({"hook": hook, "session": "s", "input": given, "output": output}).encode())
        for envelope in what.envelopes:
            json.loads(bytes(envelope.payload))


# ---------------------------------------------------------------------------- answers


def test_only_a_request_is_answered_and_in_one_line_of_ascii() -> None:
    assert json.loads(encode(request(last={"role": "user"}), "one\nzwei ü")) == {"text": "one\nzwei ü"}
    assert encode(request(last={"role": "user"}), "ü\n").isascii()
    assert encode(bus("session.idle"), "x") == encode(request(), None) == b""
    assert encode(request(), "x" * OUTPUT_LIMIT)
    assert encode(request(), "x" * (OUTPUT_LIMIT + 1)) == b""


def test_the_plugin_uses_our_names() -> None:
    """The plugin cannot ask the namespace: what it says of it must be what the namespace says."""
    source = PLUGIN.read_text("utf-8")
    said = dict(re.findall(r'^const (\w+) = "([^"]*)"$', source, re.MULTILINE))
    assert said == {
        "NAME": namespace.name(),
        "SOCKET_FILE": namespace.SOCKET_FILE,
        "HTTP_SOCKET_FILE": namespace.HTTP_SOCKET_FILE,
        "ENVIRONMENT": namespace.env(""),
        "HOST": "opencode",
    }
    imported = re.findall(r'^import .* from "([^"]+)"$', source, re.MULTILINE)
    assert imported == ["node:fs", "node:net", "node:path"]
    assert REQUEST in source
