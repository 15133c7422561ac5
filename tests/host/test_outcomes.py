"""What came after a packet: files opened, commands used, failures repeated, corrections, in the steps that count."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from governance.outcomes import Outcome
from host.outcomes import LONGEST_COMMAND, MOST_NAMED, Facts, Scene, complete, facts, happened
from host.steps import STEP_END
from recall.contracts import EventEnvelope, EventType
from tests.support.builders import a_call, a_prompt, a_reply, a_result, an_event

FAILURE = "make: *** [integration-test] Error 2: connection refused"
BUILD, CHECK, LINT = ("npm", "run", "build"), ("make", "check"), ("tox", "-e", "lint")
UV_PIP, PR_VIEW, COMPOSE_UP = ("uv", "pip", "install"), ("gh", "pr", "view"), ("docker", "compose", "up")
GO_TEST, RELEASE = ("go", "test", "-count=20"), ("make", "release")
PLACES = ("/home/me/.local/share/remora-pre/memory/ws/notes.md",)


def named(text: str) -> Facts:
    return facts([text], ())


def on_file(path: str, tool: str = "read") -> EventEnvelope:
    return an_event(EventType.TOOL_CALL, {"tool": tool, "args": path, "path": path})


def scene(*after: EventEnvelope, before: Sequence[EventEnvelope] = (), step: int = 0, steps: int = 10) -> Scene:
    return Scene(before=tuple(before or [a_prompt("Go on.")]), after=after, step=step, steps=steps)


def found(text: str, *after: EventEnvelope, **fields: Any) -> dict[Outcome, bool]:
    given = happened(named(text), scene(*after, **fields), failed=False)
    assert given is not None
    return given


# ------------------------------------------------------------------------------------------------------ what is named


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Look at src/app/main.py and tests/test_main.py.", ("src/app/main.py", "tests/test_main.py")),
        ("`pyproject.toml` holds it; Makefile does not.", ("pyproject.toml", "Makefile")),
        ("In /etc/app/config.yaml, or ~/.config/app.toml:", ("/etc/app/config.yaml", "~/.config/app.toml")),
        ("错误在src/a.rs中，见config.toml。", ("src/a.rs", "config.toml")),
        ("See https://docs.example/guide/page.html for it, and/or os.path, e.g. version 3.11.", ()),
        ("client/server, TCP/IP, read/write", ()),
        ("README.md twice: README.md", ("README.md",)),
    ],
)
def test_files_are_recognised_by_their_ends(text: str, files: tuple[str, ...]) -> None:
    assert named(text).files == files


@pytest.mark.parametrize("piece", ["+/", "a+", "+.", "a.b+", "./", "~/", "@.", "go ", "`a "])
def test_names_are_looked_for_in_linear_time(piece: str) -> None:
    """Of the square of a text's length, the first of these would take minutes here."""
    assert facts([piece * (80_000 // len(piece))], ()).files == ()


def test_much_that_is_named_and_much_that_is_done_are_compared_in_one_go() -> None:
    """Each name held against each path of each event, this took minutes in which the daemon heard nobody."""
    named_ = facts([" ".join(f"a{n}/b{n}.py" for n in range(250)), "\n".join(f"$ make t{n}" for n in range(250))], ())
    busy = "; ".join(f"cat x{n}/y{n}.py" for n in range(400))
    before, after = ([a_call(busy, call_id=f"{when}{n}") for n in range(60)] for when in ("before", "after"))
    after.append(a_call("make t7 && cat src/a9/b9.py", call_id="last"))

    given = happened(named_, scene(an_event(STEP_END, {}), *after, before=before), failed=False)

    assert (len(named_.files), len(named_.commands)) == (MOST_NAMED, MOST_NAMED)
    assert given == {Outcome.CORRECTED: False, Outcome.FILE_OPENED: True, Outcome.COMMAND_USED: True}


def test_of_a_command_that_writes_a_file_only_the_beginning_is_looked_at() -> None:
    line = "docker compose up -d pg-fixture\n"

    assert found("`docker compose up -d`", an_event(STEP_END, {}), a_call(f"cat <<END\n{line}"))[Outcome.COMMAND_USED]
    beyond = a_call("x" * LONGEST_COMMAND + f"\n{line}")
    assert not found("`docker compose up -d`", an_event(STEP_END, {}), beyond)[Outcome.COMMAND_USED]


def test_the_places_of_records_come_first() -> None:
    assert facts(["See src/a.py."], PLACES).files == (*PLACES, "src/a.py")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("Run `uv run pytest -x` first.", (("uv", "run", "pytest", "-x"),)),
        ("`export A=1 && A=1 sudo make fixtures`", (("export", "A=1"), ("make", "fixtures"))),
        ("Use `deploy <name> ENV_NAME … --dry-run`", (("deploy", "--dry-run"),)),
        ("$ make integration-test\nfails", (("make", "integration-test"),)),
        (
            "```sh\ncargo build\n./run.sh all | tee log\n```\n",
            (("cargo", "build"), ("./run.sh", "all"), ("tee", "log")),
        ),
        ("start it with docker compose up -d before", (("docker", "compose", "up"),)),
        ("make it so; make for the win; git is", ()),
        ("the `pg-fixture` container, `foo()`, `--no-verify`, `make`", ()),
        ("先用docker compose up启动", (("docker", "compose", "up"),)),
        ("pnpm install, then go on", (("pnpm", "install"),)),
        # the next word of the sentence is no part of the command
        ("When make integration-test fails, start it with npm run build again.", (("make", "integration-test"), BUILD)),
        ("make check reports it; pytest -x stops; tox -e lint is enough", (CHECK, ("pytest", "-x"), LINT)),
        ("git push rejects what git status shows, docker compose up takes long", (("git", "push"), COMPOSE_UP)),
        ("pytest needs DJANGO_SETTINGS_MODULE, git history is long, conda packages, python process, go round", ()),
        ("make sure that just run the tests, git hooks make it fail, npm reports ERESOLVE", ()),
        ("python -m unittest and uv pip install, gh pr view", (("python", "-m", "unittest"), UV_PIP, PR_VIEW)),
        ("go test -count=20 ./..., npm run fails, make release VERSION=1", (GO_TEST, ("npm", "run"), RELEASE)),
        ("the error `ECONNREFUSED 5433` is no command", ()),
    ],
)
def test_commands_are_code_of_two_words_or_follow_a_known_program(
    text: str, commands: tuple[tuple[str, ...], ...]
) -> None:
    assert named(text).commands == commands


# ------------------------------------------------------------------------------------------------------- what happened


@pytest.mark.parametrize(
    ("call", "opened"),
    [
        (on_file("/srv/shop/src/app/main.py"), True),
        (on_file("src/app/main.py", tool="edit"), True),
        (on_file("/srv/shop/src/app/other.py"), False),
        (on_file("main.py"), False),
        (a_call("sed -n 1,40p src/app/main.py"), True),
        (a_call("cat 'src/app/main.py'"), True),
        (a_call("src/app/main.py", tool="search"), False),
        (a_result("src/app/main.py"), False),
        (an_event(EventType.TOOL_CALL, 3), False),
    ],
)
def test_a_file_is_opened_by_a_tool_or_named_in_a_shell_command(call: EventEnvelope, opened: bool) -> None:
    assert found("It is in src/app/main.py.", call, a_reply())[Outcome.FILE_OPENED] is opened


@pytest.mark.parametrize(
    ("call", "used"),
    [
        (a_call("uv run pytest -x tests/host"), True),
        (a_call("cd app && FOO=1 /usr/bin/uv run -q pytest -x"), True),
        (a_call("uv run pytest"), False),
        (a_call("uv sync; pytest -x run"), False),
        (a_call("uv run pytest -x", tool="search"), False),
        (an_event(EventType.TOOL_CALL, {"tool": "shell"}), False),
        (a_call(" "), False),
    ],
)
def test_a_command_is_used_when_its_program_runs_with_the_words_named(call: EventEnvelope, used: bool) -> None:
    assert found("Use `uv run pytest -x`.", call, a_reply())[Outcome.COMMAND_USED] is used


def test_what_was_used_just_before_is_no_sign_of_use() -> None:
    before = [a_call("make integration-test"), on_file("/srv/Makefile"), a_prompt("And now?")]
    after = [a_call("make integration-test"), on_file("/srv/Makefile")]

    only_known = found("`make integration-test` is in Makefile", *after, before=before)
    one_new = found("`make integration-test` needs `make fixtures`", *after, before=before)

    assert only_known == {Outcome.CORRECTED: False}
    assert one_new == {Outcome.CORRECTED: False, Outcome.COMMAND_USED: False}


@pytest.mark.parametrize(
    ("prompt", "corrected"),
    [
        (a_prompt("No, use pnpm instead of npm."), True),
        (a_prompt("Thanks, now the next one."), False),
        (a_prompt("<system-reminder>No, use pnpm instead of npm.</system-reminder>"), False),
        (a_prompt(""), False),
        (a_reply("No, use pnpm instead of npm."), False),
    ],
)
def test_only_a_user_corrects(prompt: EventEnvelope, corrected: bool) -> None:
    assert found("text", a_reply(), prompt)[Outcome.CORRECTED] is corrected


@pytest.mark.parametrize(
    ("after", "repeated"),
    [
        ([a_call("make test", call_id="b"), a_result("other words", call_id="b")], True),  # the same call
        ([a_call("ls", call_id="b"), a_result(FAILURE, call_id="b")], True),  # the same text
        ([a_call("ls", call_id="b"), a_result("ECONNREFUSED", call_id="b")], False),
        ([a_call("ls", call_id="b"), a_result("connection refused by peer", call_id="b")], True),  # the same error
        ([a_call("make test", call_id="b"), a_result(FAILURE, ok=True, call_id="b")], False),
        ([a_call("ls", call_id="b")], False),
        ([an_event(STEP_END, {}), a_call("ls", call_id="b")], False),
    ],
)
def test_a_failure_comes_again_with_its_text_its_call_or_its_error(after: list[EventEnvelope], repeated: bool) -> None:
    before = [a_call("make test", call_id="a"), a_result(FAILURE, call_id="a")]
    given = happened(Facts(), scene(an_event(STEP_END, {}), *after, before=before), failed=True)

    assert given == {Outcome.CORRECTED: False, Outcome.FAILURE_REPEATED: repeated}


@pytest.mark.parametrize("before", [[an_event(STEP_END, {})], [a_call(), a_result("fine", ok=True)]])
def test_without_the_failure_in_the_log_nothing_is_said_to_repeat_it(before: list[EventEnvelope]) -> None:
    after = scene(an_event(STEP_END, {}), a_call(), a_result("fine"), before=before)

    given = happened(Facts(), after, failed=True)

    assert given is not None and given[Outcome.FAILURE_REPEATED] is False


# ------------------------------------------------------------------------------------------------- the steps that count


@pytest.mark.parametrize(("steps", "used"), [(1, False), (2, False), (3, True), (10, True)])
def test_what_comes_after_the_steps_that_count_is_not_looked_at(steps: int, used: bool) -> None:
    after = [event for number in range(2) for event in (a_call(f"ls {number}"), an_event(STEP_END, {}))]

    given = found("Use `make fixtures`.", *after, a_call("make fixtures"), steps=steps)

    assert given[Outcome.COMMAND_USED] is used


def test_the_step_is_counted_from_where_the_session_stood() -> None:
    events = [msgspec.structs.replace(a_call("make fixtures"), step=step) for step in (14, 15)]

    assert found("Use `make fixtures`.", events[0], step=4)[Outcome.COMMAND_USED] is True
    assert happened(Facts(), scene(events[1], step=4), failed=False) is None


def test_a_scene_is_complete_once_it_goes_beyond_the_steps_that_count() -> None:
    after = [event for number in range(3) for event in (a_call(f"ls {number}"), an_event(STEP_END, {}))]

    assert [complete(scene(*after[:count], steps=2)) for count in range(7)] == [*[False] * 5, True, True]


@pytest.mark.parametrize(
    "after",
    [(), (a_prompt("Stop."),), (a_result(), a_call(call_id="b"))],
    ids=["nothing", "no reply", "the same step"],
)
def test_a_packet_that_no_step_followed_tells_nothing(after: tuple[EventEnvelope, ...]) -> None:
    assert happened(named("`make fixtures`"), scene(*after, before=[a_reply()]), failed=False) is None
