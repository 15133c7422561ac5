"""A task is printed as a document; where there is none, that is no task."""

import json

import click
import pytest

from host.cli.task import no_task, show_task


def test_the_document_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    show_task({"format": "task", "packet": {"material": "Zeile \u202e"}})
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"format": "task", "packet": {"material": "Zeile \u202e"}}
    assert "\u202e" not in printed.out


def test_none_is_said_beside_the_answer_and_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.exceptions.Exit) as ended:
        no_task(["s-one  no-range"], "nothing waits here")
    printed = capsys.readouterr()
    assert (ended.value.exit_code, printed.out) == (1, "")
    assert printed.err == "s-one  no-range\nThere is no task: nothing waits here.\n"
