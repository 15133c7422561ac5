"""Codex's words: calls, outcomes and authors."""

import pytest

from host.transcripts import codex_words as words


@pytest.mark.parametrize(
    ("name", "given", "tool", "args", "path"),
    [
        ("exec_command", '{"cmd":"make test"}', "shell", "make test", None),
        ("shell_command", '{"command":"python a.py","workdir":"/w"}', "shell", "python a.py", None),
        ("shell", '{"command":["bash","-lc","make"]}', "shell", "make", None),
        ("shell", {"command": ["ls", "-l"]}, "shell", "ls -l", None),
        ("write_stdin", '{"chars":"y\\n"}', "shell", "y\n", None),
        ("apply_patch", "*** Begin Patch\n*** Update File: src/a.py\n-x", "edit", None, "src/a.py"),
        ("apply_patch", {"input": "*** Add File: b.py"}, "edit", "*** Add File: b.py", "b.py"),
        ("update_plan", '{"plan":[{"status":"pending","step":"x"}]}', "todo", "[pending] x", None),
        ("view_image", '{"path":"a.png"}', "read", "a.png", "a.png"),
        ("web_search", {"type": "search", "query": "sqlite wal"}, "web", "sqlite wal", None),
        ("spawn_agent", '{"message":"Review it."}', "agent", "Review it.", None),
        ("own_tool", '{"a":1}', "own_tool", '{"a":1}', None),
        ("own_tool", None, "own_tool", "", None),
    ],
)
def test_a_call_says_in_plain_text_what_it_is_about_to_do(
    name: str, given: object, tool: str, args: str | None, path: str | None
) -> None:
    told = words.call_payload(name, given)
    assert (told["tool"], told["args"], told["path"]) == (tool, given if args is None else args, path)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("plain text", ("plain text", True)),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nok\n", ("ok\n", True)),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom\n", ("Exit code 1\nboom", False)),
        ("Chunk ID: a\nProcess exited with code 127\nOriginal token count: 1\nOutput:\nx", ("Exit code 127\nx", False)),
        ("Process running\nOutput:\nExit code: 1\n", ("Process running\nOutput:\nExit code: 1\n", True)),
        ('{"output":"done","metadata":{"exit_code":0}}', ("done", True)),
        ('{"output":"bad","metadata":{"exit_code":2}}', ("Exit code 2\nbad", False)),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], ("a\nb", True)),
        ({"type": "input_text", "text": "a"}, ("a", True)),
        ({"content": "refused", "success": False}, ("refused", False)),
        (None, ("", True)),
    ],
)
def test_an_output_says_whether_it_went_well(output: object, expected: tuple[str, bool]) -> None:
    assert words.outcome(output) == expected


@pytest.mark.parametrize(
    ("item", "name", "ok", "text"),
    [
        (
            {"type": "exec_command_end", "call_id": "c", "exit_code": 0, "stdout": "a", "stderr": "b"},
            "shell",
            True,
            "ab",
        ),
        ({"type": "CommandExecution", "id": "c", "status": "failed", "aggregated_output": "x"}, "shell", False, "x"),
        ({"type": "patch_apply_end", "call_id": "c", "success": True, "stdout": "ok"}, "apply_patch", True, "ok"),
        ({"type": "FileChange", "id": "c", "status": "failed", "changes": {"/a": {}}}, "apply_patch", False, ""),
        (
            {
                "type": "mcp_tool_call_end",
                "call_id": "c",
                "invocation": {"server": "s", "tool": "t"},
                "result": {"Err": "no"},
            },
            "mcp:s__t",
            False,
            "no",
        ),
        (
            {
                "type": "McpToolCall",
                "id": "c",
                "server": "s",
                "tool": "t",
                "result": {"content": [{"type": "text", "text": "yes"}]},
            },
            "mcp:s__t",
            True,
            "yes",
        ),
        ({"type": "dynamic_tool_call_response", "call_id": "c", "tool": "own", "success": False}, "own", False, ""),
    ],
)
def test_an_event_can_tell_a_whole_run(item: dict[str, object], name: str, ok: bool, text: str) -> None:
    run = words.finished(item)
    assert run is not None
    assert (run.call_id, run.name, run.ok, run.text) == ("c", name, ok, text)


def test_other_events_tell_no_run() -> None:
    assert words.finished({"type": "token_count"}) is None
    assert words.finished({"type": "exec_command_end"}) is None  # of no call


@pytest.mark.parametrize(
    ("hooked", "given", "called", "argued"),
    [
        ("Bash", {"command": "make"}, "exec_command", '{"cmd":"make","workdir":"/w","yield_time_ms":100}'),
        ("Bash", {"command": "make -j"}, "shell", '{"command":["bash","-lc","make -j"],"timeout_ms":10}'),
        ("apply_patch", {"command": "*** Update File: a.py\n-x"}, "apply_patch", "*** Update File: a.py\n-x"),
        ("mcp__tides__table", {"b": 1, "a": "ä"}, "mcp__tides__table", '{"b": 1, "a": "ä"}'),
        ("spawn_agent", {"message": "look", "agent_type": "x"}, "spawn_agent", '{"message":"look","agent_type":"x"}'),
        ("view_image", {"path": "a.png"}, "view_image", '{"path":"a.png"}'),
        ("a_tool_of_tomorrow", {"b": [1, {"c": None}]}, "a_tool_of_tomorrow", '{"b":[1,{"c":null}]}'),
    ],
)
def test_a_call_reads_the_same_by_a_hook_and_in_a_rollout(
    hooked: str, given: object, called: str, argued: object
) -> None:
    assert words.hooked_call(hooked, given) == words.hooked_call(called, argued)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"type": "function_call", "name": "table", "namespace": "mcp__tides"}, "mcp__tides__table"),
        ({"type": "function_call", "name": "spawn_agent", "namespace": "multi_agent_v1"}, "spawn_agent"),
        ({"type": "local_shell_call"}, "local_shell"),
    ],
)
def test_a_call_in_a_rollout_is_named_as_hooks_name_it(item: dict[str, object], name: str) -> None:
    assert words.called(item) == name


@pytest.mark.parametrize(
    ("output", "running"),
    [
        ("Chunk ID: 1\nWall time: 0.3 seconds\nProcess running with session ID 7\nOutput:\nhalf\n", True),
        ("Wall time: 0.3 seconds\nProcess exited with code 0\nOutput:\nProcess running with session ID 7\n", False),
        ([{"type": "input_text", "text": "Wall time: 1 seconds\nOutput:"}], False),
        (None, False),
    ],
)
def test_a_command_that_goes_on_says_so_in_its_head(output: object, running: bool) -> None:
    assert words.is_running(output) is running


def test_a_look_at_a_command_types_nothing() -> None:
    assert words.is_look("write_stdin", '{"session_id":7,"chars":""}')
    assert not words.is_look("write_stdin", '{"session_id":7,"chars":"y"}')
    assert not words.is_look("exec_command", '{"cmd":""}')
