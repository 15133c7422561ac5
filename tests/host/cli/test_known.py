"""Completion of MEMORY: ids that begin so, with a word about each; silence when there is nobody to ask."""

from pathlib import Path

import click
import pytest

from host.cli import known
from host.cli.main import main
from host.client import DaemonAbsent
from tests.host.cli.fakes import answering
from tests.support.builders import a_memory, a_memory_id

RECORDS = [
    a_memory("Use make check.", memory_id=a_memory_id(1), title="Tests"),
    a_memory("Be  brief.", memory_id=a_memory_id(2)),
]


def test_ids_are_offered_with_what_the_memory_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = answering(
        monkeypatch, known, {"health": {"ready": True}, "memory.list": {"records": RECORDS, "next": None}}
    )
    command = main.get_command(click.Context(main), "show")
    assert command is not None
    context = command.make_context("show", [], resilient_parsing=True)

    offered = known.complete(context, command.params[0], "mem_")
    narrowed = known.complete(context, command.params[0], a_memory_id(2))

    assert [(item.value, item.help) for item in offered] == [
        (a_memory_id(1), "Tests"),
        (a_memory_id(2), "Be brief."),
    ]
    assert [item.value for item in narrowed] == [a_memory_id(2)]
    assert daemon.params("memory.list")["workspace"] == str(Path().resolve())


def test_without_a_daemon_nothing_is_offered_and_none_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, known, {"health": DaemonAbsent("No daemon.")})

    assert known.complete(click.Context(main), main.params[0], "mem_") == []
