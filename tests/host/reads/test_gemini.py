"""What Gemini CLI's results say of files; its captured results are in test_cases.py."""

import pytest

from host.reads import gemini_output, gemini_shown, window_bytes
from recall.contracts import PrintForm, Printing, ReadWindow

A, B = b"one\ntwo\n", b"three\r\nfour"


def many(*files: tuple[str, bytes]) -> list[str]:
    """The parts of a `read_many_files`, as the client's code puts them together."""
    parts = [f"--- {path} ---\n\n{data.decode().replace(chr(13), '')}\n\n" for path, data in files]
    return [*parts, "\n--- End of content ---"]


def windows(content: object) -> list[ReadWindow]:
    told = gemini_shown("read_many_files", {"include": ["*.md"]}, content, "/p")
    return list(told.get("reads", ()))  # type: ignore[call-overload, no-any-return]


def test_every_file_of_a_read_of_many_has_its_window() -> None:
    first, second = windows(many(("/p/a.md", A), ("/p/b.md", B)))

    assert (first.path, second.path) == ("/p/a.md", "/p/b.md")
    assert window_bytes(A, first) == (0, len(A))
    assert window_bytes(B, second) == (0, len(B))


def test_the_files_may_come_as_one_text_or_as_parts() -> None:
    parts = many(("/p/a.md", A), ("/p/b.md", B))

    assert windows("".join(parts)) == windows(parts) == windows([{"text": part} for part in parts])


def test_a_file_that_was_cut_and_an_image_have_none() -> None:
    cut = "--- /p/a.md ---\n\n[WARNING: This file was truncated. To view the full content, use …]\n\none\n\n"

    assert windows([cut, {"inlineData": {"mimeType": "image/png"}}, "\n--- End of content ---"]) == []
    assert windows("No files matching the criteria were found or all were skipped.") == []


def test_a_read_with_a_hooks_text_behind_it_is_still_the_file() -> None:
    told = gemini_shown("read_file", {"file_path": "a.md"}, "one\ntwo\n\n\n<hook_context>x</hook_context>", "/p")

    assert isinstance(told["read"], ReadWindow)
    assert (told["read"].path, window_bytes(A, told["read"])) == ("/p/a.md", (0, 8))


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("<untrusted_context>\nOutput: a\nb\nProcess Group PGID: 7\n</untrusted_context>", "a\nb"),
        ("<untrusted_context>\nOutput: a\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>", "a"),
        ("Output: a\nError: (none)\nExit Code: 0\nSignal: 0\nProcess Group PGID: 7", "a"),
        ("Output: a\nExit Code: 0\nExit Code: 0", "a\nExit Code: 0"),  # a note is there once
        ("Output: a", "a"),
        ("a\nb", "a\nb"),
    ],
)
def test_the_hosts_fence_is_taken_off_an_output(text: str, output: str) -> None:
    assert gemini_output(text) == output


@pytest.mark.parametrize("note", ["Exit Code: 1", "Error: spawn failed", "Signal: 9"])
def test_a_command_that_failed_shows_nothing(note: str) -> None:
    fine, failed = (f"Output: one\n{line}\nProcess Group PGID: 7" for line in ("Exit Code: 0", note))

    assert gemini_shown("run_shell_command", {"command": "head -1 a.md"}, fine, "/p") != {}
    assert gemini_shown("run_shell_command", {"command": "head -1 a.md"}, failed, "/p") == {}


def test_a_search_may_name_paths_from_its_folder_or_from_the_project() -> None:
    told = gemini_shown("grep_search", {"pattern": "x", "dir_path": "notes"}, "File: a.md\nL1: x", "/p")

    assert told == {"printed": (Printing(paths=(".",), form=PrintForm.FOUND, bases=("/p/notes", "/p")),)}


@pytest.mark.parametrize(
    ("tool", "arguments", "content"),
    [
        ("read_file", {}, "x"),
        ("read_file", {"file_path": "a.md"}, "a very long line... [truncated]"),
        ("read_file", {"file_path": "a.md"}, [{"inlineData": {}}]),
        ("write_file", {"file_path": "a.md"}, "x"),
        ("run_shell_command", {}, "x"),
        ("glob", None, "a.md"),
    ],
)
def test_what_shows_no_lines_tells_nothing(tool: str, arguments: object, content: object) -> None:
    told = gemini_shown(tool, arguments, content, "/p")

    assert told == {} or window_bytes(b"another file\n", told["read"]) is None  # type: ignore[arg-type]
