"""The documents are run and counted: every example works as printed, every name has its heading.

```console blocks: `$ ` starts a command, `> ` continues it, the lines after it are what it prints. `...` stands for
anything, within a line or as a line of its own; a command without lines after it may print what it likes. Commands
exit 0, or what a final `# exit N` says. The blocks of one page share a scratch home and project. ```python blocks are
run as programs; a ```text block that begins with `python ` shows what the program above it prints, ids and dates
aside. Other examples are in `tests/test_examples.py`.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click
import msgspec
import pytest

from governance.rules import CANDIDATE_RULES, PACKET_RULES
from host import namespace
from host.adapters import ADAPTERS
from host.cli.main import main
from host.config import Config
from host.contracts import Reason
from host.service import Service
from recall.lint import RULES
from recall.sources import SOURCES

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
CHANGING = re.compile(r"\b(?:mem_)?[0-9a-f]{8,32}\b|\b\d{4}-\d\d-\d\d\b")  # ids and dates in what a program prints
EXIT = re.compile(r"\s+# exit (\d+)$")
PATIENCE = 90  # seconds for one command
ELSEWHERE = {"docs/how-to/use-in-process.md"}  # needs the frameworks: tests/e2e/test_framework_examples.py
PROMISED = {"docs/how-to/correct-a-memory.md": pytest.mark.promise("correction-path")}  # pages that are a promise


@dataclass(frozen=True)
class Step:
    command: str
    expected: tuple[str, ...]
    code: int = 0


def _steps(block: str) -> Iterator[Step]:
    """The commands of a console block with what they should print."""
    command, expected = "", []
    for line in [*block.splitlines(), "$ "]:
        if line.startswith("$ "):
            if command:
                code = EXIT.search(command)
                yield Step(EXIT.sub("", command), tuple(expected), int(code[1]) if code else 0)
            command, expected = line[2:], []
        elif line.startswith("> ") and not expected:
            command += "\n" + line[2:]
        else:
            expected.append(line)


def _pattern(expected: tuple[str, ...]) -> re.Pattern[str]:
    """Matches output that these lines describe, trailing blanks aside."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(".*".join(re.escape(piece) for piece in line.rstrip().split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts))


@pytest.mark.parametrize(
    ("printed", "shown", "matches"),
    [
        ("a\nb\n", ("a", "b"), True),
        ("a\nb\n", ("a",), False),
        ("a\nx\ny\nb\n", ("a", "...", "b"), True),
        ("took 12 ms\n", ("took ... ms",), True),
        ("took 12 s\n", ("took ... ms",), False),
    ],
)
def test_the_ellipsis_stands_for_anything_and_nothing_else_does(
    printed: str, shown: tuple[str, ...], matches: bool
) -> None:
    assert bool(_pattern(shown).fullmatch(printed)) is matches


class Scratch:
    """A home and a project that the examples of one page share; a daemon they left behind is stopped at the end."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        for name in ("home", "project", "data", "run"):
            (folder / name).mkdir(mode=0o700)
        self.env = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "COLUMNS": "120",
            namespace.env("data"): str(folder / "data"),
            namespace.env("socket"): str(folder / "run" / "d.sock"),
        }

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


def _pages_with(*languages: str) -> list[str]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        if any(match[1] in languages for match in FENCE.finditer(text)):
            found.append(page.relative_to(ROOT).as_posix())
    return found


def _promising(page: str) -> Any:
    promise = PROMISED.get(page)
    return page if promise is None else pytest.param(page, marks=promise, id=page)


@pytest.mark.parametrize(
    "page", [_promising(page) for page in _pages_with("console", "python") if page not in ELSEWHERE]
)
def test_every_example_of_a_page_works_as_printed(page: str) -> None:
    with tempfile.TemporaryDirectory(prefix="d") as folder:  # a short path, for the socket
        scratch = Scratch(Path(folder))
        done = None
        try:
            for match in FENCE.finditer((ROOT / page).read_text(encoding="utf-8")):
                if match[1] == "python":
                    done = scratch.run([sys.executable, "-W", "error", "-c", match[2]])
                    assert done.returncode == 0, f"{match[2]}\n{done.stdout}"
                elif match[1] == "text" and match[2].startswith("python "):
                    command, *shown = CHANGING.sub("...", match[2]).splitlines()
                    _check(Step(command, tuple(shown)), done)
                elif match[1] == "console":
                    for step in _steps(match[2]):
                        _check(step, scratch.run(["bash", "-c", step.command]))
        finally:
            scratch.run([str(Path(sys.executable).parent / namespace.SCRIPT), "stop"])


def _check(step: Step, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == step.code, f"$ {step.command}\n{done.stdout}"
    if any(line.strip() for line in step.expected):
        printed = "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n") + "\n"
        shown = tuple("\n".join(step.expected).strip("\n").splitlines())
        assert _pattern(shown).fullmatch(printed), f"$ {step.command}\nprinted:\n{printed}\nshown:\n" + "\n".join(shown)


def test_every_link_of_a_page_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {match[1]}"
        for page in PAGES
        if page.exists()
        for match in re.finditer(r"\]\(([^)#\s]+)[^)]*\)", FENCE.sub("", page.read_text(encoding="utf-8")))
        if "://" not in match[1] and not (page.parent / match[1]).exists()
    ]
    assert not broken


# ---------------------------------------------------------------------------------------------------------- headings


def _headings() -> set[str]:
    """Headings of the reference, backticks off, up to a dash."""
    found = set()
    for page in (ROOT / "docs" / "reference").rglob("*.md"):
        for match in re.finditer(r"^#+ +(.+?) *$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE):
            found.add(re.split(r" +[—–] +", match[1].replace("`", ""))[0])
    return found


class _Anything:
    """Stands for collaborators that a table is made of and nobody calls here."""

    def __getattr__(self, name: str) -> Self:
        return self


def _methods() -> list[str]:
    anything: Any = _Anything()
    return ["hello", "shutdown", *Service(anything, anything).methods]


def _commands(command: click.Command | None = None, path: str = "") -> Iterator[str]:
    command = command or main
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _commands(child, f"{path} {name}".strip())
    elif path:
        yield path


def _settings(kind: Any = None, path: str = "") -> Iterator[str]:
    kind = kind or Config
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            yield from _settings(field.type, f"{path}.{field.encode_name}".strip("."))
    elif path:
        yield path


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("reason", lambda: [str(reason) for reason in Reason]),
        ("wire method", _methods),
        ("adapter", lambda: list(ADAPTERS)),
        ("recall source", lambda: [str(name) for name, _ in SOURCES]),
        ("safety rule", lambda: [name for name, _ in (*CANDIDATE_RULES, *PACKET_RULES)]),
        ("lint rule", lambda: list(RULES)),
        ("subcommand", lambda: list(_commands())),
        ("setting", lambda: list(_settings())),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_every_name_a_user_meets_has_a_heading_in_the_reference(what: str, names: Any) -> None:
    found = names()
    assert found, f"no {what} was found in the code"
    missing = [name for name in found if name not in _headings()]
    assert not missing, f"no heading in docs/reference/ for {what}: {missing}"
