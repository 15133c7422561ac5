"""OpenCode's plugin alone, under node: what it tells, where it puts a text, and that nothing which happens to the
daemon ever reaches OpenCode."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from host import namespace
from host.frame import open_line
from host.paths import socket_path
from tests.e2e.plugin_stage import (
    CLAIM,
    TRANSFORM,
    Answer,
    Daemon,
    Json,
    Stage,
    holding,
    ours,
    saying,
    texts,
    tool,
    user,
)

pytestmark = pytest.mark.client

CALLED = {"text": "MEMORY", "callID": "c"}


@pytest.fixture
def place(run_dir: Path) -> Path:
    return run_dir / "s" / "d.sock"


@pytest.fixture
def stage(place: Path) -> Iterator[Stage]:
    with Stage({namespace.env("socket"): str(place)}) as playing:
        yield playing


# ---------------------------------------------------------------------------------------------- where a text is put


def test_behind_a_prompt_it_is_one_more_part_and_is_kept_where_nobody_sees_it(place: Path, stage: Stage) -> None:
    with Daemon(place, saying("MEMORY")) as daemon:
        answer = stage.request(user("Hi."))
        assert texts(answer) == ["Hi.", "MEMORY"]
        assert daemon.until("inbox.delivered") == [CLAIM]
        asked = daemon.until("hook", 2)[1]["payload"]
    assert (asked["hook"], asked["session"], asked["directory"]) == (TRANSFORM, "ses_1", "/p")
    (part,) = stage.client("stores")
    assert part == ours("msg_1", {"text": "MEMORY"})


@pytest.mark.parametrize("status", ["completed", "error"])
def test_behind_the_last_result_it_is_part_of_that_result(place: Path, stage: Stage, status: str) -> None:
    with Daemon(place, saying("MEMORY")) as daemon:
        answer = stage.request(user("Hi."), tool("boom", status=status))
        daemon.until("inbox.delivered")
    assert texts(answer) == ["Hi.", "boom\n\nMEMORY"]
    (part,) = stage.client("stores")
    assert part == ours("msg_2", {"text": "MEMORY", "callID": "c"}), "the result itself stays as it was"


@pytest.mark.parametrize("mode", ["refuses", "none"])
def test_what_opencode_did_not_keep_is_put_in_again_at_the_same_place(place: Path, stage: Stage, mode: str) -> None:
    stage.client(mode)
    with Daemon(place, saying("MEMORY")):
        first = stage.request(user("Hi."), tool("boom"))
        second = stage.request(user("Hi."), tool("boom"), tool("fine", name="msg_3"))
        kept = stage.request(user("Hi."), holding(tool("boom"), CALLED), tool("fine", name="msg_3"))
        changed = stage.request(user("Hi."), tool("boom\n\nMEMORY"), tool("fine", name="msg_3"))
    assert texts(first) == ["Hi.", "boom\n\nMEMORY"]
    assert texts(second) == texts(kept) == texts(changed) == ["Hi.", "boom\n\nMEMORY", "fine"]


@pytest.mark.parametrize("status", ["completed", "error"])
def test_what_a_session_holds_is_put_in_again_and_our_parts_are_not_sent(
    place: Path, stage: Stage, status: str
) -> None:
    with Daemon(place, saying("")) as daemon:
        answer = stage.request(
            holding(user("Hi."), {"text": "MEMORY"}),
            holding(tool("boom", status=status), CALLED),
            holding(tool("fine", name="msg_3"), {"text": "ELSEWHERE", "callID": "another"}),
        )
        assert daemon.until("hook", 2)[1]["payload"]["output"]["ready"] is False, "one text for each message"
    assert texts(answer) == ["Hi.", "MEMORY", "boom\n\nMEMORY", "fine"]
    parts = [part for message in answer["output"]["messages"] for part in message["parts"]]
    assert len(parts) == 4 and not any("metadata" in part for part in parts)


@pytest.mark.parametrize("kept", [5, [], {}, {"text": 5}, {"text": ""}, {"text": "x" * 100_000, "callID": "c"}])
def test_a_part_of_ours_that_makes_no_sense_is_not_sent_and_breaks_nothing(
    place: Path, stage: Stage, kept: object
) -> None:
    with Daemon(place, saying("MEMORY")):
        answer = stage.request(user("Hi."), holding(tool("boom"), kept))
    assert texts(answer) == ["Hi.", "boom\n\nMEMORY"]


def test_a_summary_is_asked_for_without_our_texts(place: Path, stage: Stage) -> None:
    with Daemon(place, saying("")):
        stage.call("experimental.session.compacting", {"sessionID": "ses_1"}, {"context": []})
        conversation = [holding(user("Hi."), {"text": "MEMORY"}), holding(tool("boom"), CALLED)]
        summary, after = (stage.request(*conversation) for _ in range(2))
    assert texts(summary) == ["Hi.", "boom"]
    assert texts(after) == ["Hi.", "MEMORY", "boom\n\nMEMORY"]


def test_where_nothing_can_be_put_nothing_is_asked_for(place: Path, stage: Stage) -> None:
    with Daemon(place, saying("MEMORY")) as daemon:
        running = stage.request(user("Hi."), tool("", status="running"))
        cut = tool("", status="error")
        cut["parts"][0]["state"]["metadata"] = {"interrupted": True, "output": "half"}
        cut_off = stage.request(user("Hi."), cut)
        child = stage.request(user("Hi.", session="ses_child"))
        stage.call("experimental.session.compacting", {"sessionID": "ses_1"}, {"context": []})
        compacting = stage.request(user("Hi."))
        empty = stage.request()
        after = stage.request(user("Hi."))
        daemon.until("inbox.delivered")
        asked = [call for call in daemon.until("hook") if call["acknowledge"]]
    assert [texts(answer) for answer in (running, cut_off, child, compacting, empty)] == [*[["Hi."]] * 4, []]
    assert texts(after) == ["Hi.", "MEMORY"]
    assert len(asked) == 1


# ---------------------------------------------------------------------------------------------- what is told


def test_each_thing_is_told_once_whichever_call_has_it_first(place: Path, stage: Stage) -> None:
    part = tool("boom")["parts"][0]
    with Daemon(place, saying("")) as daemon:
        stage.call(
            "event", {"event": {"type": "session.created", "properties": {"info": {"id": "ses_1", "version": "1"}}}}
        )
        stage.call(
            "chat.message", {"sessionID": "ses_1"}, {"message": user("Hi.")["info"], "parts": user("Hi.")["parts"]}
        )
        stage.call(
            "event",
            {
                "event": {
                    "type": "message.updated",
                    "properties": {"info": {"id": "msg_2", "role": "assistant", "sessionID": "ses_1"}},
                }
            },
        )
        for _ in range(2):
            stage.call("event", {"event": {"type": "message.part.updated", "properties": {"part": part}}})
        stage.request(user("Hi."), tool("boom"))
        stage.call("event", {"event": {"type": "session.idle", "properties": {"sessionID": "ses_1"}}})
        stage.call("dispose", None)
        told = [call["payload"] for call in daemon.until("hook", 6)]
    assert [payload["input"].get("type", payload["hook"]) for payload in told] == [
        *("session.created", "chat.message", "message.part.updated", TRANSFORM, "session.idle", "dispose")
    ]
    assert told[3]["output"]["messages"] == []
    assert told[4]["input"]["properties"]["messageID"] == "msg_2"


def test_what_a_daemon_that_was_away_has_missed_is_told_when_it_is_there(place: Path, stage: Stage) -> None:
    stage.call("chat.message", {"sessionID": "ses_1"}, {"message": user("Hi.")["info"], "parts": user("Hi.")["parts"]})
    stage.request(user("Hi."), tool("boom"))
    with Daemon(place, saying("MEMORY")) as daemon:
        answer = stage.request(user("Hi."), tool("boom"), tool("fine", name="msg_3"))
        told = [call["payload"] for call in daemon.until("hook", 4)]
    assert texts(answer) == ["Hi.", "boom", "fine\n\nMEMORY"]
    assert [payload["hook"] for payload in told] == ["session.resumed", "chat.message", TRANSFORM, TRANSFORM]
    assert [payload["output"]["ready"] for payload in told[2:]] == [False, True]
    parts = [
        part["id"] for payload in told[2:] for message in payload["output"]["messages"] for part in message["parts"]
    ]
    assert parts == ["prt_msg_2", "prt_msg_3"]


def test_a_summary_is_the_compactions_and_nothing_that_the_agent_said(place: Path, stage: Stage) -> None:
    info = {"id": "msg_9", "role": "assistant", "sessionID": "ses_1", "summary": True, "mode": "compaction"}
    part = {
        "id": "prt_9",
        "messageID": "msg_9",
        "sessionID": "ses_1",
        "type": "text",
        "text": "So far.",
        "time": {"end": 1},
    }
    with Daemon(place, saying("")) as daemon:
        stage.call("event", {"event": {"type": "message.updated", "properties": {"info": info}}})
        stage.call("event", {"event": {"type": "message.part.updated", "properties": {"part": part}}})
        stage.call("event", {"event": {"type": "session.compacted", "properties": {"sessionID": "ses_1"}}})
        stage.request(user("Go on."), {"info": info, "parts": [part]})
        told = [call["payload"] for call in daemon.until("hook", 3)]
    assert told[0]["input"]["properties"] == {"sessionID": "ses_1", "messageID": "msg_9", "text": "So far."}
    assert "So far." not in json.dumps(told[1:])


def test_what_was_copied_from_another_session_is_not_told_as_this_ones(place: Path, stage: Stage) -> None:
    made = {"type": "session.created", "properties": {"info": {"id": "ses_1", "version": "1", "time": {"created": 5}}}}
    copied, own = tool("old")["parts"][0], tool("new", name="msg_3")["parts"][0]
    own["state"]["time"]["end"] = 6
    with Daemon(place, saying("")) as daemon:
        stage.call("event", {"event": made})
        for part in (copied, own):
            stage.call("event", {"event": {"type": "message.part.updated", "properties": {"part": part}}})
        told = [call["payload"]["input"] for call in daemon.until("hook", 2)]
    assert [one["properties"]["part"]["id"] for one in told[1:]] == ["prt_msg_3"]


def test_at_the_first_request_it_tells_what_of_ours_the_conversation_holds(place: Path, stage: Stage) -> None:
    frame = open_line("0123456789abcdef")
    with Daemon(place, saying("")) as daemon:
        for _ in range(2):
            stage.request(user("Hi."), tool(f"boom\n\n{frame}\n| x"), tool(f"again {frame}", name="msg_3"))
        outputs = [call["payload"]["output"] for call in daemon.until("hook", 3)[1:]]
    assert [output.get("shown") for output in outputs] == [[frame], None]


def test_a_long_text_is_told_cut(place: Path, stage: Stage) -> None:
    with Daemon(place, saying("")) as daemon:
        stage.request(user("x" * 3_000_000), tool("y" * 3_000_000))
        (told,) = [call["payload"] for call in daemon.until("hook", 2) if call["payload"]["hook"] == TRANSFORM]
    assert len(json.dumps(told)) < 200_000


# ---------------------------------------------------------------------------------------------- what may go wrong


def garbage(_: Json) -> bytes:
    return b"\xff\xfe not json\n[]\nnull\n"


def broken(asked: Json) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "no"}}).encode() + b"\n"
    )


def odd(asked: Json) -> bytes:
    return json.dumps({"id": asked["id"], "result": {"output": {"text": ["x"]}, "claim": 5}}).encode() + b"\n"


@pytest.mark.parametrize("answer", [lambda _: None, garbage, broken, odd], ids=["hung", "garbage", "refuses", "odd"])
def test_a_daemon_that_makes_no_sense_changes_nothing_and_holds_nobody_up(
    place: Path, stage: Stage, answer: Answer
) -> None:
    with Daemon(place, answer):
        answers = [stage.request(user("Hi."), tool("boom", name=f"msg_{n}")) for n in range(6)]
    assert all(texts(each) == ["Hi.", "boom"] for each in answers)
    assert sum(each["ms"] for each in answers) < 1_500  # one wait at most, of six


def test_a_daemon_that_comes_to_life_too_late_hands_nothing_over(place: Path, stage: Stage) -> None:
    release = threading.Event()
    said = saying("MEMORY")

    def late(asked: Json) -> bytes | None:
        assert release.wait(20)
        return said(asked)

    with Daemon(place, late) as daemon:
        first = stage.request(user("Hi."))
        release.set()
        second = stage.request(user("Hi."), tool("boom"))
        assert texts(first) == ["Hi."]
        assert texts(second) == ["Hi.", "boom"]
        assert not [asked for asked in daemon.heard if asked["method"] == "inbox.delivered"]


@pytest.mark.parametrize("where", ["nowhere", "stale", "open to others", "another's link"])
def test_a_socket_that_is_not_there_or_not_safe_is_left_alone(place: Path, stage: Stage, where: str) -> None:
    folder = place.parent
    if where != "nowhere":
        folder.mkdir(mode=0o700, parents=True)
    if where == "stale":
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(place))
    if where == "open to others":
        folder.chmod(0o777)
    if where == "another's link":
        folder.rename(folder.with_name("real"))
        folder.symlink_to("real")
    if where in ("open to others", "another's link"):
        with Daemon(place, saying("MEMORY")) as daemon:
            answer = stage.request(user("Hi."))
            assert daemon.heard == []
    else:
        answer = stage.request(user("Hi."))
    assert texts(answer) == ["Hi."]
    assert answer["ms"] < 300


ODD: list[object] = [
    None,
    5,
    "x",
    [],
    {},
    {"messages": None},
    {"messages": [None]},
    {"messages": [{"info": None, "parts": None}]},
]


def test_odd_calls_of_a_later_version_break_nothing(place: Path, stage: Stage) -> None:
    with Daemon(place, saying("MEMORY")):
        for hook in stage.hooks():
            for given in (*ODD, {"event": None}, {"event": {"type": "session.created"}}, {"sessionID": 5}):
                for output in ODD:
                    stage.call(hook, given, output)


def test_our_own_sessions_have_no_hooks(place: Path) -> None:
    with Stage({namespace.env("socket"): str(place), namespace.env("internal"): "1"}) as playing:
        assert playing.hooks() == []


@pytest.mark.parametrize("case", ["chosen", "runtime", "temporary", "long"])
def test_the_socket_is_looked_for_where_the_daemon_listens(run_dir: Path, case: str) -> None:
    deep = run_dir / ("d" * 90)
    environment = {
        "chosen": {namespace.env("socket"): str(run_dir / "x.sock"), "XDG_RUNTIME_DIR": str(run_dir)},
        "runtime": {"XDG_RUNTIME_DIR": str(run_dir)},
        "temporary": {"TMPDIR": str(run_dir), "XDG_RUNTIME_DIR": "relative"},
        "long": {namespace.env("socket"): str(deep / "x.sock")},
    }[case]
    path = Path(socket_path(environment, os.getuid()))
    run_dir.chmod(0o700)
    fresh = not path.parent.exists()
    with Daemon(path, saying("MEMORY")), Stage(environment) as playing:
        assert texts(playing.request(user("Hi."))) == ["Hi.", "MEMORY"]
    path.unlink()
    if fresh:
        path.parent.rmdir()
