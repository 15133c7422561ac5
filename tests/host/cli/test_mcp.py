"""`mcp` is a plain front for the server's process."""

import io

import pytest
from click.testing import CliRunner

from host.cli import mcp
from host.cli.main import main
from host.namespace import env


@pytest.mark.parametrize(("options", "debug"), [([], False), (["--debug"], True)])
def test_it_serves_and_says_more_when_asked_to(
    monkeypatch: pytest.MonkeyPatch, options: list[str], debug: bool
) -> None:
    served: list[bool] = []
    monkeypatch.setattr(mcp, "run", lambda *, debug: served.append(debug))

    done = CliRunner().invoke(main, [*options, "mcp"])

    assert (done.exit_code, done.output, served) == (0, "", [debug])


def test_a_person_at_a_terminal_is_told_what_it_waits_for_beside_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(mcp, "run", lambda *, debug: None)

    done = CliRunner().invoke(main, ["mcp"], input=Terminal())

    assert done.stdout == ""
    assert done.stderr == "This waits for an MCP client. Agent products start it by themselves; Ctrl-C ends it.\n"


@pytest.mark.promise("field-cases")
def test_a_session_of_our_own_is_given_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case own-sessions-are-ignored: nothing is served, and no daemon is started."""
    served: list[bool] = []
    monkeypatch.setattr(mcp, "run", lambda *, debug: served.append(debug))
    monkeypatch.setenv(env("internal"), "1")

    done = CliRunner().invoke(main, ["mcp"])

    assert (done.exit_code, done.output, served) == (0, "", [])
