"""What a client waits for is answered as the SDK answered it last time, by the same software; all else waits for it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host.mcp.greeting import Greetings, stamp
from tests.support.speaking import discovery, hello

Json = dict[str, Any]
STAMP = "s1"
LISTED = {"resources": [{"uri": "memory://a"}]}


def none() -> Json:
    raise RuntimeError("no daemon")


def greetings(folder: Path, stamped: str = STAMP, resources: Callable[[], Json] = none) -> Greetings:
    return Greetings(folder / "greetings.json", stamped, resources)


def line(message: Json) -> bytes:
    return json.dumps(message).encode() + b"\n"


def asked(method: str, number: int | str = 1, modern: bool = False, **params: Any) -> bytes:
    meta = {"_meta": discovery()["params"]["_meta"]} if modern else {}
    return line({"jsonrpc": "2.0", "id": number, "method": method, "params": meta | params})


def said(number: int | str, **result: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}) + "\n"


def learned(folder: Path, *turns: tuple[bytes, Json], **more: Any) -> None:
    """One session: each question, and what the SDK says to it."""
    one = greetings(folder, **more)
    for question, result in turns:
        assert one.note(question) is not None
        assert one.sent(said(json.loads(question)["id"], **result))


def test_what_was_answered_once_is_answered_at_once_the_next_time_with_its_own_id(tmp_path: Path) -> None:
    assert greetings(tmp_path).answer(line(hello())) is None
    learned(tmp_path, (line(hello()), {"serverInfo": {"name": "x"}}))

    answer = greetings(tmp_path).answer(line(hello(number=7)))

    assert answer is not None and answer.endswith(b"\n")
    assert json.loads(answer) == {"jsonrpc": "2.0", "id": 7, "result": {"serverInfo": {"name": "x"}}}


def test_what_the_sdk_says_to_it_then_is_not_sent_twice_and_all_else_is(tmp_path: Path) -> None:
    learned(tmp_path, (line(hello()), {"a": 1}))
    one = greetings(tmp_path)
    assert one.answer(line(hello(number=7))) is not None

    assert one.sent(said(6, b=1))
    assert one.sent('{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}')
    assert one.sent("no json at all")
    assert not one.sent(said(7, a=1))
    assert one.sent(said(7, a=1))  # another question of the same number


def test_an_answer_that_is_another_one_now_is_kept_for_the_next_time(tmp_path: Path) -> None:
    learned(tmp_path, (line(hello()), {"a": 1}))
    one = greetings(tmp_path)
    assert one.answer(line(hello())) is not None
    assert not one.sent(said(0, a=2))

    assert b'"a":2' in (greetings(tmp_path).answer(line(hello())) or b"")


def test_other_software_gives_no_answers_of_this_one(tmp_path: Path) -> None:
    learned(tmp_path, (line(hello()), {"a": 1}))

    assert greetings(tmp_path, "s2").answer(line(hello())) is None


def test_each_version_of_the_protocol_has_its_own_answers(tmp_path: Path) -> None:
    learned(
        tmp_path,
        (line(hello("2025-06-18")), {"v": 1}),
        (asked("tools/list"), {"tools": [1]}),
        (asked("tools/list", modern=True), {"tools": [2]}),
    )
    one = greetings(tmp_path)

    assert one.answer(asked("tools/list")) is None  # nobody shook hands
    assert one.answer(line(hello("2025-11-25"))) is None
    assert one.answer(asked("tools/list")) is None
    assert b"[2]" in (one.answer(asked("tools/list", modern=True)) or b"")
    assert one.answer(line(hello("2025-06-18"))) is not None
    assert b"[1]" in (one.answer(asked("tools/list")) or b"")


@pytest.mark.parametrize(
    "question",
    [
        b"nonsense",
        b"[]",
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        asked("tools/call", modern=True, name="memory_search_pre"),
        asked("ping", modern=True),
        asked("tools/list", modern=True, cursor="x"),
        line({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 7}}),
        line({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": []}),
    ],
)
def test_other_questions_wait_for_the_sdk(tmp_path: Path, question: bytes) -> None:
    one = greetings(tmp_path)

    assert one.note(question) is None
    assert one.answer(question) is None


def test_resources_are_listed_as_they_are_now_in_the_frame_of_the_last_answer(tmp_path: Path) -> None:
    frame = {"resources": [{"uri": "memory://old"}], "nextCursor": "c", "ttlMs": 0}
    learned(tmp_path, (asked("resources/list", modern=True), frame))

    kept = (tmp_path / "greetings.json").read_text("utf-8")
    answer = greetings(tmp_path, resources=lambda: LISTED).answer(asked("resources/list", modern=True))

    assert "memory://" not in kept
    assert json.loads(answer or b"")["result"] == {"ttlMs": 0, **LISTED}


@pytest.mark.parametrize(("modern", "told"), [(False, True), (True, False)])
def test_a_list_that_nobody_can_make_now_is_empty_and_the_client_hears_of_another_one(
    tmp_path: Path, modern: bool, told: bool
) -> None:
    question = asked("resources/list", modern=modern)
    learned(tmp_path, (line(hello()), {"a": 1}), (question, LISTED))
    one = greetings(tmp_path)
    if not modern:
        assert one.answer(line(hello())) is not None

    assert json.loads(one.answer(question) or b"")["result"] == {"resources": []}
    assert not one.sent(said(1, **LISTED))

    assert ("resources/list_changed" in one.news()) is told  # 2026-07-28 has no such message
    assert one.news() == ""


def test_a_list_that_stays_empty_is_no_news(tmp_path: Path) -> None:
    learned(tmp_path, (line(hello()), {"a": 1}), (asked("resources/list"), LISTED))
    one = greetings(tmp_path)
    one.answer(line(hello()))
    one.answer(asked("resources/list"))

    assert not one.sent(said(1, resources=[]))
    assert one.news() == ""


def test_a_client_that_names_folders_of_its_own_waits_for_its_resources(tmp_path: Path) -> None:
    rooted, bare = line(hello(roots={})), line(hello())
    learned(tmp_path, (bare, {"a": 1}), (asked("resources/list"), {"resources": []}))

    one = greetings(tmp_path, resources=lambda: LISTED)
    assert one.answer(rooted) is not None
    assert one.answer(asked("resources/list")) is None
    one = greetings(tmp_path, resources=lambda: LISTED)
    assert one.answer(bare) is not None
    assert one.answer(asked("resources/list")) is not None


def test_an_error_of_the_sdk_is_sent_and_not_kept(tmp_path: Path) -> None:
    one = greetings(tmp_path)
    one.note(line(hello()))

    assert one.sent('{"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "no"}}')
    assert greetings(tmp_path).answer(line(hello())) is None


@pytest.mark.parametrize("content", [b"", b"nonsense", b"[]", b'{"stamp": "s1", "answers": {"a": 1}}'])
def test_a_file_that_cannot_be_used_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "greetings.json").write_bytes(content)

    assert greetings(tmp_path).answer(line(hello())) is None


def test_a_folder_that_cannot_be_written_costs_the_next_start_alone(tmp_path: Path) -> None:
    learned(tmp_path / "missing", (line(hello()), {"a": 1}))

    assert greetings(tmp_path / "missing").answer(line(hello())) is None


def test_the_stamp_is_another_one_when_a_file_of_ours_is(tmp_path: Path) -> None:
    folder, single = tmp_path / "package", tmp_path / "single.py"
    folder.mkdir()
    (folder / "a.py").write_text("1")
    single.write_text("1")
    first = stamp(folder, single)
    single.write_text("22")

    assert stamp(folder, single) != first
    assert stamp(folder, single) == stamp(folder, single)
