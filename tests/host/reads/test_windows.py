"""What a read result showed, as lines and as bytes of the file."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.reads import claude_code_read, window_bytes
from recall.canonical import text_digest
from recall.contracts import ReadWindow

CAPTURED = Path(__file__).parents[2] / "data/hosts/claude-code/read_variants/hook_payloads.jsonl"


def shown(content: str, start: int, count: int, total: int | None = None, **more: object) -> dict[str, Any]:
    """A Read result as Claude Code gives it."""
    file = {"filePath": "/p/a.md", "content": content, "startLine": start, "numLines": count, "totalLines": total}
    return {"type": "text", "file": file | more}


def as_read(data: bytes, offset: int = 1, limit: int | None = None) -> dict[str, Any]:
    """What Claude Code shows of a file: LF line ends, no BOM, the final newline counted as one more line."""
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    part = lines[offset - 1 :] if limit is None else lines[offset - 1 : offset - 1 + limit]
    return shown("\n".join(part), offset, len(part), len(lines))


def check(data: bytes, response: object, lines: tuple[int, int, int | None], where: tuple[int, int] | None) -> None:
    window = claude_code_read(response)
    assert window is not None
    assert (window.line_start, window.line_count, window.total_lines) == lines
    assert window_bytes(data, window) == where


@pytest.mark.parametrize(
    ("data", "response", "lines", "where"),
    [
        (b"a\nb\n", shown("a\nb\n", 1, 3, 3), (1, 2, 2), (0, 4)),  # the final newline is no line
        (b"a\nb\nc", shown("a\nb\nc", 1, 3, 3), (1, 3, 3), (0, 5)),
        (b"a\nb\nc\n", shown("b", 2, 1, 4), (2, 1, 4), (2, 4)),  # not read to the end: the total stays the host's
        (b"a\nb\nc\n", shown("b\nc\n", 2, 3, 4), (2, 2, 3), (2, 6)),
        (b"a\nb\n", shown("", 3, 1, 3), (3, 0, 2), (4, 4)),  # only what follows the final newline
        (b"a\nb\n", shown("", 1000, 0, 3), (1000, 0, 3), (4, 4)),  # past the end
        (b"", shown("", 1, 1, 1), (1, 0, 0), (0, 0)),  # empty file
        (b"\n", shown("\n", 1, 2, 2), (1, 1, 1), (0, 1)),
        (b"\n\n\n", shown("", 2, 1, 4), (2, 1, 4), (1, 2)),  # an empty line in the middle
        (b"a\r\nb\r\nc\r\n", shown("a\nb\nc\n", 1, 4, 4), (1, 3, 3), (0, 9)),
        (b"a\r\nb\r\nc\r\n", shown("b", 2, 1, 4), (2, 1, 4), (3, 6)),
        (b"a\rb\nc\r\n\n", shown("a\rb\nc\n\n", 1, 4, 4), (1, 3, 3), (0, 8)),
        ("\ufeffeins\nzwei 部\n".encode(), shown("eins\nzwei 部\n", 1, 3, 3), (1, 2, 2), (0, 17)),
        ("\ufeffeins\nzwei 部\n".encode(), shown("zwei 部\n", 2, 2, 3), (2, 1, 2), (8, 17)),
        (b"caf\xe9 \xff\xfe x\nb\n", shown("caf\ufffd \ufffd\ufffd x\nb\n", 1, 3, 3), (1, 2, 2), (0, 12)),
        (b"a\0b\nc\n", shown("a\0b\nc\n", 1, 3, 3), (1, 2, 2), (0, 6)),
    ],
)
def test_a_window_counts_the_lines_of_the_file_and_finds_their_bytes(
    data: bytes, response: object, lines: tuple[int, int, int | None], where: tuple[int, int] | None
) -> None:
    check(data, response, lines, where)


@pytest.mark.parametrize(
    "response",
    [
        None,
        "File does not exist.",
        {"type": "image", "file": {"base64": "AAAA"}},
        {"type": "text"},
        shown("a", 1, 2, 2),  # the count does not fit the content
        shown("a", 0, 1, 1),
        shown("a", True, 1, 1),
        shown("a\ud83d", 1, 1, 1),
        shown("a", 1, 1, 1, filePath=""),
        {"type": "text", "file": {"filePath": "/p/a.md", "content": ["a"], "startLine": 1, "numLines": 1}},
    ],
)
def test_what_shows_no_lines_of_a_text_file_is_no_window(response: object) -> None:
    assert claude_code_read(response) is None


def test_a_total_that_the_host_does_not_tell_stays_unknown() -> None:
    check(b"a\nb\n", shown("a", 1, 1), (1, 1, None), (0, 2))


@pytest.mark.parametrize(
    "data",
    [b"a\nB\nc\n", b"a\n", b"", b"x\na\nb\nc\n"],
    ids=["line changed", "file cut", "file emptied", "line put in front"],
)
def test_a_file_that_changed_where_it_was_read_is_stale(data: bytes) -> None:
    window = claude_code_read(as_read(b"a\nb\nc\n", offset=2))
    assert window is not None
    assert window_bytes(data, window) is None


def test_a_change_elsewhere_leaves_the_window_valid() -> None:
    window = claude_code_read(as_read(b"a\nb\nc\n", offset=1, limit=2))
    assert window is not None
    assert window_bytes(b"a\nb\nlater\nadded\n", window) == (0, 4)


@pytest.mark.parametrize("changes", [{"content_digest": None}, {"line_start": 0}, {"line_count": -1}])
def test_a_window_without_digest_or_with_impossible_lines_covers_nothing(changes: dict[str, object]) -> None:
    window = ReadWindow(path="/a", line_start=1, line_count=1, content_digest=text_digest("a"))
    assert window_bytes(b"a\n", msgspec.structs.replace(window, **changes)) is None


FILES = st.lists(st.sampled_from([b"", b"a", b"some words", "部署".encode(), b"\xff", b"a\rb"]), max_size=8).flatmap(
    lambda lines: st.sampled_from([b"\n", b"\r\n"]).flatmap(
        lambda end: st.sampled_from([end.join(lines), end.join(lines) + end, b"\xef\xbb\xbf" + end.join(lines)])
    )
)


@given(FILES, st.integers(1, 10), st.none() | st.integers(1, 10))
def test_the_bytes_of_a_window_are_those_that_were_shown(data: bytes, offset: int, limit: int | None) -> None:
    response = as_read(data, offset, limit)
    window = claude_code_read(response)
    assert window is not None
    found = window_bytes(data, window)
    assert found is not None
    start, end = found
    text = data[start:end].decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    content = str(response["file"]["content"])
    assert text in (content, content + "\n")  # the last line's end is not shown, unless the file ends there


def test_captured_results_of_the_real_client_are_understood() -> None:
    payloads = [json.loads(line)["payload"] for line in CAPTURED.read_text().splitlines()]
    reads = [p["tool_response"] for p in payloads if p["tool_name"] == "Read" and "tool_response" in p]

    windows = [claude_code_read(response) for response in reads]

    assert [(w.line_start, w.line_count, w.total_lines) for w in windows if w] == [
        (1, 300, 300),
        (295, 6, 300),
        (1000, 0, 301),
        (1, 475, 1201),  # cut at the token cap
        (1, 0, 0),
        (1, 3, 3),
        (1, 3, 3),
    ]
    assert len(reads) == len(windows)


@pytest.mark.promise("coverage-exact")
def test_a_captured_page_that_was_cut_at_the_token_cap_shows_its_lines_and_no_more() -> None:
    payloads = [json.loads(line)["payload"] for line in CAPTURED.read_text().splitlines()]
    (cut,) = [p["tool_response"] for p in payloads if "truncatedByTokenCap" in json.dumps(p.get("tool_response"))]
    words = "lorem ipsum dolor sit amet consectetur adipiscing elit " * 3
    lines = [f"line {number:06d} {words}\n".encode() for number in range(1, 1201)]  # as the file was made
    window = claude_code_read(cut)

    assert window is not None
    assert window_bytes(b"".join(lines), window) == (0, sum(map(len, lines[:475])))
    assert window_bytes(b"".join([*lines[:474], b"edited\n", *lines[475:]]), window) is None
