"""Every promise has a test, and every test's promise was made."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from tests.promises import PROMISES

TESTS = Path(__file__).parent


def _promised(tree: ast.AST) -> Iterator[str]:
    """The ids that `pytest.mark.promise(...)` names in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), "a promise is named by a literal"
                yield argument.value


@functools.cache
def _proofs() -> dict[str, set[str]]:
    proofs: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if "pytest.mark.promise(" in text:
            for promise in _promised(ast.parse(text)):
                proofs.setdefault(promise, set()).add(str(path.relative_to(TESTS)))
    return proofs


def test_every_promise_has_a_test() -> None:
    proofs = _proofs()
    missing = [f"{p.id} ({p.source}): {p.sentence}" for p in PROMISES if p.id not in proofs]
    assert not missing, "promises without a test:\n" + "\n".join(missing)


def test_every_test_names_a_promise_that_was_made() -> None:
    made = {p.id for p in PROMISES}
    unknown = {promise: where for promise, where in _proofs().items() if promise not in made}
    assert not unknown


def test_promises_have_distinct_ids() -> None:
    assert len({p.id for p in PROMISES}) == len(PROMISES)
