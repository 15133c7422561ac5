"""The audit for other programs: page after page to standard output."""

from typing import Any

import pytest
from click.testing import CliRunner

from host.cli import export
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering


class Pages(dict[str, Any]):
    """Three pages, one an answer."""

    def __init__(self) -> None:
        super().__init__({"audit.export": None})
        self.left = [{"lines": ["one", "two"], "next": 2}, {"lines": ["three"], "next": 3}, {"lines": []}]

    def __getitem__(self, method: str) -> Any:
        return self.left.pop(0)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[str, FakeDaemon]:
    daemon = answering(monkeypatch, export, Pages())
    result = CliRunner().invoke(main, ["audit", "export", *arguments])
    assert result.exit_code == 0, result.output
    return result.output, daemon


def test_every_page_is_asked_for_and_written(monkeypatch: pytest.MonkeyPatch) -> None:
    output, daemon = run(monkeypatch)

    assert output == "one\ntwo\nthree\n"
    assert [params for _, params in daemon.asked] == [
        {"format": "ndjson"},
        {"format": "ndjson", "afterRow": 2},
        {"format": "ndjson", "afterRow": 3},
    ]


def test_conditions_become_parameters_of_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    _, daemon = run(monkeypatch, "--format", "csv", "--session", "s1", "--kind", "delivery", "--since", "1970-01-02")

    given = {"format": "csv", "sessionId": "s1", "kind": "delivery", "since": 86_400_000}
    assert [params for _, params in daemon.asked] == [given, {**given, "afterRow": 2}, {**given, "afterRow": 3}]
