"""What Gemini CLI's words mean: tools, arguments, prompts, results, and names of events."""

import pytest

from host.transcripts import gemini_words as words
from host.transcripts.gemini_words import Outcome
from recall.contracts import SourceKind


@pytest.mark.parametrize(
    ("name", "given", "tool", "args", "path"),
    [
        ("run_shell_command", {"command": "ls"}, "shell", "ls", None),
        ("read_file", {"file_path": "/p/a"}, "read", "/p/a", "/p/a"),
        ("read_file", {"absolute_path": "/p/a"}, "read", "/p/a", "/p/a"),
        (
            "replace",
            {"file_path": "/p/a", "old_string": "x", "new_string": "y"},
            "edit",
            "/p/a\n--- old\nx\n+++ new\ny",
            "/p/a",
        ),
        ("write_file", {"file_path": "/p/a", "content": "x"}, "write", "/p/a\nx", "/p/a"),
        ("grep_search", {"pattern": "x", "dir_path": "/p"}, "search", "pattern=x dir_path=/p", "/p"),
        ("google_web_search", {"query": "x"}, "web", "x", None),
        ("invoke_agent", {"agent_name": "a", "prompt": "b"}, "agent", "a\nb", None),
        ("mcp_server_tool", {"a": 1}, "mcp:server_tool", '{"a":1}', None),
        ("a_tool_of_tomorrow", {"a": [1.5]}, "a_tool_of_tomorrow", '{"a":[1.5]}', None),
        ("a_tool_of_tomorrow", ["no object"], "a_tool_of_tomorrow", "", None),
    ],
)
def test_a_call_says_what_is_about_to_be_done(name: str, given: object, tool: str, args: str, path: str | None) -> None:
    assert words.call_payload(name, given) == {"tool": tool, "args": args, "path": path, "nativeTool": name}


@pytest.mark.parametrize(
    ("text", "own", "source"),
    [
        ("Use UTC.", "Use UTC.", SourceKind.USER),
        ("<session_context>\nThis is the Gemini CLI.\n</session_context>", "", SourceKind.LIFECYCLE),
        ("<session_context>x</session_context>\nUse UTC.", "Use UTC.", SourceKind.USER),
        ("<loaded_context>x</loaded_context>\n\nUse UTC.", "Use UTC.", SourceKind.USER),
        ("<state_snapshot>\n<goal>x</goal>\n</state_snapshot>", "<state_snapshot>", SourceKind.LIFECYCLE),
        ("Why does <state_snapshot> stand in my file?", "Why does", SourceKind.USER),
        ("", "", SourceKind.LIFECYCLE),
    ],
)
def test_whose_words_a_text_is(text: str, own: str, source: SourceKind) -> None:
    said = words.spoken(text)
    assert said.source is source
    assert said.text.startswith(own or text.strip())


def test_shown_texts_are_as_they_were_before_the_host_escaped_them() -> None:
    text = "<hook_context>&lt;remora-pre-memory 0123456789abcdef&gt;\n| a &amp; b</hook_context>\n\nHi"
    assert words.shown_in(text) == ["<remora-pre-memory 0123456789abcdef>\n| a &amp; b"]
    assert words.shown_in("no context") == []


def test_the_folder_is_what_the_host_says() -> None:
    assert words.folder_of("- **Workspace Directories:**\n  - /home/dev/a b\n- x") == "/home/dev/a b"
    assert words.folder_of("nothing") == ""


@pytest.mark.parametrize(
    ("name", "content", "failed", "expected"),
    [
        ("run_shell_command", "Output: x\nExit Code: 2", False, Outcome(text="x", ok=False)),
        (
            "run_shell_command",
            "<untrusted_context>\nOutput: x\n</untrusted_context>",
            False,
            Outcome(text="x", ok=True),
        ),
        ("glob", "Exit Code: 2", False, Outcome(text="Exit Code: 2", ok=True)),
        ("glob", "x", True, Outcome(text="x", ok=False)),
        ("glob", "x\n\n<hook_context>m</hook_context>", False, Outcome(text="x", ok=True)),
        ("glob", {"text": "x"}, False, Outcome(text="x", ok=True)),
        ("glob", [{"inlineData": {"data": "QQ"}}], False, Outcome(text="", ok=True, images=1)),
        ("glob", None, False, Outcome(text="", ok=True)),
        ("glob", 5, False, Outcome(text="", ok=True)),
    ],
)
def test_what_a_result_says(name: str, content: object, failed: bool, expected: Outcome) -> None:
    assert words.outcome(name, content, failed) == expected


def test_a_recorded_call_says_the_same_as_its_hook() -> None:
    response = {
        "functionResponse": {"id": "c", "name": "glob", "response": {"output": "a\n\n<hook_context>m</hook_context>"}}
    }
    assert words.recorded({"name": "glob", "status": "success", "result": [response]}) == words.outcome("glob", "a")
    broken = {"functionResponse": {"response": {"error": "no such file"}}}
    assert words.recorded({"name": "glob", "status": "error", "result": [broken]}) == Outcome(
        text="no such file", ok=False
    )
    stopped = words.recorded({"name": "glob", "status": "cancelled", "result": None})
    assert (stopped.ok, stopped.denied) == (False, True)


def test_names_tell_calls_apart_by_tool_and_arguments() -> None:
    keys = {words.call_key(name, given) for name, given in [("a", {"x": 1}), ("b", {"x": 1}), ("a", {"x": 2})]}
    assert len(keys) == 3
    assert words.call_key("a", {"x": 1, "y": 2}) == words.call_key("a", {"y": 2, "x": 1})
    assert words.call_key("a", {"x": "\ud83d"}) != words.call_key("a", {"x": "?"})
    assert words.placed("call", "m", "k") == "call:m:k" != words.placed("call", "m", "k", 1)
    assert words.timed("call", "k", "t") == "call:k@t"
