"""A daemon for the command line's tests: answers by method, and remembers what it was asked."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import pytest

T = TypeVar("T")


class FakeDaemon:
    """Stands in for `ask`. `answers`: method -> JSON-able result, a function of the parameters, or an exception to
    raise."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, method: str, params: Mapping[str, object], answer: type[T]) -> T:
        self.asked.append((method, msgspec.json.decode(msgspec.json.encode(params))))
        result = self.answers[method]
        if callable(result):
            result = result(self.asked[-1][1])
        if isinstance(result, BaseException):
            raise result
        return msgspec.json.decode(msgspec.json.encode(result), type=answer)

    def params(self, method: str) -> dict[str, Any]:
        """What the method was last asked with."""
        return [params for asked, params in self.asked if asked == method][-1]


def answering(monkeypatch: pytest.MonkeyPatch, module: Any, answers: Mapping[str, Any]) -> FakeDaemon:
    """Put a fake daemon behind every `ask` of a command module."""
    daemon = FakeDaemon(answers)
    for name in ("ask", "ask_running"):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, daemon)
    return daemon
