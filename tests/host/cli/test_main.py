"""The command line as a whole: its table, its help, and how it fails."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from host.cli.main import PLACES, SECTIONS, main
from host.errors import RemoraError

ROOT = Path(__file__).parents[3]


def every_command() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", command.commands[below]) for below in command.commands)


def test_every_command_of_the_table_can_be_loaded() -> None:
    assert {name.split()[0] for name, _ in every_command()} == set(PLACES)


def test_the_table_says_what_each_command_says_of_itself() -> None:
    for section in SECTIONS.values():
        for name, (_, sentence) in section.items():
            command = main.get_command(click.Context(main), name)
            assert command is not None and (command.help or "").splitlines()[0] == sentence, name


def test_every_command_shows_an_example() -> None:
    for name, command in every_command():
        assert re.search(rf"Examples?:\n +(eval )?.*remora-pre {name.split()[0]}", command.help or ""), name


def test_every_command_that_lists_or_shows_has_json() -> None:
    silent = {"serve", "hook", "mcp", "completion", "audit", "team", "audit export", "config", "eval"}
    for name, command in every_command():
        options = {option for parameter in command.params for option in parameter.opts}
        assert name in silent or "--json" in options, name


def test_the_help_page_lists_all_commands_without_loading_them() -> None:
    said = CliRunner().invoke(main, ["--help"]).output

    assert all(re.search(rf"^  {name} ", said, re.MULTILINE) for name in PLACES)


def test_the_entry_module_imports_nothing_heavy() -> None:
    tree = ast.parse((ROOT / "host" / "cli" / "main.py").read_text())
    names = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert names == {"importlib", "sys", "types", "click", "host.errors", "host.namespace"}


@pytest.mark.parametrize("arguments", [["nonsense"], ["search"], ["list", "--limit", "none"], ["audit", "explain"]])
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)

    assert result.exit_code == 2
    assert "Usage:" in result.output


def test_a_refusal_is_said_without_a_traceback_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def refuse() -> None:
        raise RemoraError("The jar is full.", "Empty it.")

    monkeypatch.setattr(type(main), "get_command", lambda *_: refuse)
    result = CliRunner().invoke(main, ["refuse"])

    assert result.exit_code == 1
    assert result.output == "Error: The jar is full. Empty it.\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"), "cannot be written as utf-8"),
        (FileNotFoundError(2, "No such file or directory", "/jar"), "/jar cannot be used: No such file"),
        (FileNotFoundError(2, "No such file or directory"), "The current folder cannot be used"),
        (PermissionError(13, "Permission denied", "/jar"), "/jar cannot be used: Permission denied"),
    ],
)
def test_what_the_shell_gave_us_and_we_cannot_use_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    @click.command()
    def stumble() -> None:
        raise error

    monkeypatch.setattr(type(main), "get_command", lambda *_: stumble)
    result = CliRunner().invoke(main, ["stumble"])

    assert result.exit_code == 1
    assert result.output.startswith("Error: ") and said in result.output
