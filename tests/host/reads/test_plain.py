"""Results of producers that say nothing of files: understood by their tool, command, path and text."""

import pytest

from host.reads import plain_shown, window_bytes
from host.reads.shown import File, shown
from recall.contracts import EventPayload, PrintForm, Printing, ReadWindow

A = b"one\ntwo\nthree\n"


def test_a_shells_result_is_understood_by_its_command() -> None:
    payload = EventPayload(tool="shell", text="one\n")

    assert plain_shown(payload, "head -1 a.md", "/p").printed[0].paths == ("a.md",)
    assert plain_shown(payload, "ls", "/p") is payload
    assert plain_shown(payload, "", "/p") is payload


def test_a_hosts_fence_around_an_output_is_taken_off() -> None:
    text = "<untrusted_context>\nOutput: one\nExit Code: 0\nProcess Group PGID: 1\n</untrusted_context>"
    fenced = EventPayload(tool="shell", text=text)
    failed = EventPayload(tool="shell", text=text.replace("Code: 0", "Code: 1"))

    assert plain_shown(fenced, "head -1 a.md", "/p").text == "one"
    assert plain_shown(fenced, "head -1 a.py", "/p") is fenced
    assert plain_shown(failed, "head -1 a.md", "/p") is failed


def test_a_search_counts_when_it_names_a_memory_file() -> None:
    assert plain_shown(EventPayload(tool="search", text="a.md:1:one"), "x", "/p").printed == (
        Printing(paths=(".",), form=PrintForm.FOUND, bases=("/p",)),
    )
    assert plain_shown(EventPayload(tool="search", text="a.py:1:one"), "x", "/p").printed == ()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("one\ntwo\nthree", ((0, 14),)),
        ("two\nthree\n", ((4, 14),)),
        ("1\tone\n2\ttwo", ((0, 8),)),
        ("     2→two\n     3→three", ((4, 14),)),
        (
            "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 2-2 of 4 total lines.\n"
            "Action: x\n\n--- FILE CONTENT (truncated) ---\ntwo",
            ((4, 8),),
        ),
        ("other words", ()),
    ],
)
def test_a_read_is_understood_by_its_path_and_text(text: str, where: tuple[tuple[int, int], ...]) -> None:
    told = plain_shown(EventPayload(tool="read", path="/p/a.md", text=text), "", "/p")

    if isinstance(told.read, ReadWindow):
        assert (window_bytes(A, told.read),) == where
    else:
        (result,) = shown([(told.printed[0], [{"/p/a.md": File("/p/a.md", A)}])], told.text)
        assert result.spans.get("/p/a.md", ()) == where


@pytest.mark.parametrize(
    "payload",
    [
        EventPayload(tool="read", path="/p/a.py", text="one"),
        EventPayload(tool="read", text="one"),
        EventPayload(tool="edit", path="/p/a.md", text="one"),
        EventPayload(tool="shell", ok=False, text="one"),
        EventPayload(text="a.md:1:one"),
        EventPayload(tool="shell", text="one", reads=(ReadWindow(path="/p/a.md", line_start=1, line_count=1),)),
        EventPayload(tool="shell", text="one", printed=(Printing(paths=("b.md",)),)),
    ],
)
def test_what_says_it_itself_or_shows_nothing_stays_as_it_is(payload: EventPayload) -> None:
    assert plain_shown(payload, "cat a.md", "/p") is payload
