"""The house rules, as tests: tools, budgets, layout, names. Each failure names file and line."""

import ast
import functools
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest

from host import namespace
from host.config import Config

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("host", "recall", "governance")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if "fake_model" not in path.parts)
BESIDE_PYTHON = Path(sys.executable).parent

MODULE_LINES = 400
CONFTEST_LINES = 30
SETTINGS = 40
AT_ROOT = {
    *("pyproject.toml", "README.md", "LICENSE", ".gitignore"),
    *("host", "recall", "governance", "tests", "docs", ".ci"),
}
TYPES = ("base", "consolidating", "ports", "promoting", "recalling", "results", "rows", "staging", "turns")
NOT_MIRRORED = {  # types only, or one line: nothing to test beside what uses them
    *("host/contracts.py", "governance/contracts.py", "host/errors.py", "recall/errors.py", "governance/errors.py"),
    *("recall/contracts/events.py", "recall/contracts/memory.py", "recall/contracts/ports.py"),
    *("recall/contracts/query.py", "host/__main__.py", "governance/formation/errors.py"),
    *(f"governance/formation/contracts/{name}.py" for name in ("batch", "documents", "model", "notes")),
    *(f"governance/formation/contracts/{name}.py" for name in ("ranges", "records")),
    *("governance/formation/candidates.py", "governance/team/errors.py"),
    *(f"governance/team/contracts/{name}.py" for name in TYPES),
}
SUITES = {"conformance", "properties", "replay", "cases", "isolation", "queries", "reasons"}  # of a whole package
REAL_PROCESSES = ("tests/bench", "tests/e2e", "tests/reliability", "tests/support/daemon.py")  # may wait for a process


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _comments(path: Path) -> tuple[tuple[int, str], ...]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return tuple((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)


@pytest.fixture(scope="module", autouse=True)
def _trees() -> Iterator[None]:
    """The trees are let go of at the end: every collection of garbage walks over what is kept."""
    yield
    _tree.cache_clear()
    _comments.cache_clear()


def _tracked() -> list[Path]:
    """What git holds or would hold."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return [path for path in paths if path.is_file()]


def _none(findings: Iterable[str]) -> None:
    found = list(findings)
    assert not found, "\n".join(["", *found])


# ------------------------------------------------------------------------------------------------------------- tools


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy", "--no-error-summary"],
        ["lint-imports", "--no-cache"],
    ],
    ids=["ruff-check", "ruff-format", "mypy-strict", "import-linter"],
)
def test_a_tool_finds_nothing(command: list[str]) -> None:
    done = subprocess.run(
        [str(BESIDE_PYTHON / command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ----------------------------------------------------------------------------------------------------------- budgets


def test_a_module_fits_its_budget() -> None:
    def lines(path: Path) -> int:
        return len(path.read_text(encoding="utf-8").splitlines())

    _none(f"{_name(p)}: {lines(p)} lines" for p in (*SOURCES, *TESTS) if lines(p) > MODULE_LINES)
    _none(f"{_name(p)}: {lines(p)} lines" for p in TESTS if p.name == "conftest.py" and lines(p) >= CONFTEST_LINES)


def test_no_budget_is_waived() -> None:
    """The linter counts statements, parameters, local imports and prints; what it lets through must be a boundary."""
    allowed = re.compile(r"# noqa: BLE001  \(boundary: [^)]+\)")
    _none(
        f"{_name(path)}:{line}: {text}"
        for path in SOURCES
        for line, text in _comments(path)
        if "noqa" in text and not allowed.search(text)
    )


def test_a_broad_handler_is_a_marked_boundary_or_raises_again() -> None:
    def broad(handler: ast.ExceptHandler) -> bool:
        names = ast.walk(handler.type) if handler.type else [ast.Name("Exception")]
        return any(isinstance(n, ast.Name) and n.id in ("Exception", "BaseException") for n in names)

    def findings() -> Iterator[str]:
        for path in SOURCES:
            marked = {line for line, text in _comments(path) if "(boundary: " in text}
            for node in ast.walk(_tree(path)):
                if isinstance(node, ast.ExceptHandler) and broad(node) and node.lineno not in marked:
                    last = node.body[-1]
                    if not (isinstance(last, ast.Raise) and last.exc is None):
                        yield f"{_name(path)}:{node.lineno}: a broad handler without `(boundary: why)`"

    _none(findings())


def test_an_ignored_type_error_has_a_code_and_a_reason() -> None:
    """`# type: ignore[code]  # reason`, or the reason in a comment on the line before."""

    def findings() -> Iterator[str]:
        for path in SOURCES:
            comments = dict(_comments(path))
            for line, text in comments.items():
                if "type: ignore" not in text:
                    continue
                match = re.search(r"type: ignore\[[a-z-]+(, ?[a-z-]+)*\](.*)", text)
                if match is None or (len(match[2].strip(" #()")) < 8 and line - 1 not in comments):
                    yield f"{_name(path)}:{line}: {text}"

    _none(findings())


def test_contracts_hold_no_any_and_import_only_lower_contracts() -> None:
    def findings() -> Iterator[str]:
        for path in SOURCES:
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if ".contracts" not in module:
                continue
            for node in ast.walk(_tree(path)):
                named = getattr(node, "id", None) or getattr(node, "attr", None)
                if named == "Any":
                    yield f"{_name(path)}:{node.lineno}: Any"
            for imported in _imported(_tree(path)):
                top = imported.split(".")[0]
                if not (top in sys.stdlib_module_names or top == "msgspec" or ".contracts" in imported):
                    yield f"{_name(path)}: imports {imported}"

    _none(findings())


def test_at_most_forty_settings() -> None:

    def count(kind: object) -> int:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return sum(count(field.type) for field in msgspec.structs.fields(kind))
        return 1

    assert count(Config) <= SETTINGS


# ------------------------------------------------------------------------------------------------------------ layers


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_governance_sees_of_recall_only_contracts_and_the_pure_leaves() -> None:
    seen = re.compile(r"recall(\.(contracts|canonical|analyzer|team_entry|team_front)\b.*)?$")
    _none(
        f"{_name(path)}: imports {module}"
        for path in SOURCES
        if path.is_relative_to(ROOT / "governance")
        for module in _imported(_tree(path))
        if module.split(".")[0] == "recall" and not seen.match(module)
    )


def test_the_hook_client_and_what_it_imports_need_only_the_standard_library() -> None:
    """It is started on a step of the agent, with `-S`: nothing else is there."""
    own = {"host.namespace", "host.paths"}
    _none(
        f"{name}: imports {module}"
        for name in ("host/hook.py", "host/paths.py", "host/namespace.py")
        for module in _imported(_tree(ROOT / name))
        if module.split(".")[0] not in sys.stdlib_module_names and not any(module.startswith(m) for m in own)
    )


@pytest.mark.promise("git-untouched", "nothing-executed")
def test_only_what_starts_the_daemon_starts_a_process() -> None:
    """No git, no shell, nothing out of a memory: our own daemon, and what the user configured."""
    starters = {
        *("host/launch.py", "host/hook.py", "host/cli/hook.py", "host/cli/run.py", "host/doctor/programs.py"),
        *("host/models/command.py", "host/models/keeper.py"),  # the command that the user's own configuration names
        "host/setup/codex_trust.py",
        "host/demo/theatre.py",
        "recall/child.py",
        "recall/reader.py",
    }
    runs = re.compile(
        r"\b(subprocess|os\.(exec\w*|spawn\w*|posix_spawn\w*|system|popen|fork)|pty|create_subprocess_\w+)\b"
    )
    _none(
        f"{_name(path)}: {match[0]}"
        for path in SOURCES
        if _name(path) not in starters
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Attribute | ast.Name | ast.alias)
        for match in [runs.search(node.name if isinstance(node, ast.alias) else _dotted(node))]
        if match
    )


def _dotted(node: ast.AST) -> str:
    """`a.b.c`; of what stands before the dot in another way, nothing."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def test_nothing_is_mocked_and_no_test_sleeps() -> None:
    def findings() -> Iterator[str]:
        for path in TESTS:
            tree = _tree(path)
            for module in _imported(tree):
                if module in ("mock", "unittest.mock") or module.startswith("unittest.mock."):
                    yield f"{_name(path)}: imports {module}"
            for node in ast.walk(tree):
                if _sleeps(node) and not _name(path).startswith(REAL_PROCESSES):
                    yield f"{_name(path)}:{node.lineno}: sleeps"  # type: ignore[attr-defined]

    _none(findings())


def _sleeps(node: ast.AST) -> bool:
    """A call of sleep, `asyncio.sleep(0)` excepted: that only yields."""
    if not (isinstance(node, ast.Call) and _dotted(node.func) in ("time.sleep", "asyncio.sleep")):
        return False
    return not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)


# ------------------------------------------------------------------------------------------------------------ layout


def test_the_root_holds_only_what_it_may() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in _tracked()} <= AT_ROOT


def test_every_module_has_its_test_file_and_every_test_file_its_module() -> None:
    sources = {_name(path) for path in SOURCES if path.name != "__init__.py"}
    modules = sources - NOT_MIRRORED

    def test_of(module: str) -> str:
        folder, _, name = module.rpartition("/")
        return f"tests/{folder}/test_{name}"

    def findings() -> Iterator[str]:
        present = {_name(path) for path in TESTS}
        for module in sorted(modules):
            if test_of(module) not in present:
                yield f"{module}: no {test_of(module)}"
        packages = {_name(path.parent) for path in SOURCES}
        for path in TESTS:
            folder, stem = _name(path.parent).removeprefix("tests/"), path.stem.removeprefix("test_")
            mirrors = path.name.startswith("test_") and folder in packages and stem not in SUITES
            if mirrors and f"{folder}/{stem}.py" not in sources and f"{folder}/{stem}" not in packages:
                yield f"{_name(path)}: no module {folder}/{stem}.py"

    _none(findings())


# ------------------------------------------------------------------------------------------------------------- names


def _literals(path: Path) -> Iterator[tuple[int, str]]:
    """String constants, docstrings excepted."""
    tree = _tree(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def _bare_names(text: str) -> list[str]:
    """Words of `text` that are names made of ours without the preview mark. Prose may say who we are."""
    if namespace.BASE not in text.lower():
        return []
    words = [word.strip("`'\"“”‘’.,:;!?()[]") for word in text.split()]
    ours = [word.removesuffix("'s").removesuffix("’s") for word in words if namespace.BASE in word.lower()]
    marked = re.compile(rf"{namespace.BASE}[-_]{namespace.MARK}", re.IGNORECASE)
    is_prose = len(words) > 2
    return [word for word in ours if not marked.search(word) and not (is_prose and word.lower() == namespace.BASE)]


@pytest.mark.promise("preview-names")
def test_every_external_name_carries_the_preview_mark() -> None:
    def findings() -> Iterator[str]:
        for path in SOURCES:
            if _name(path) == "host/namespace.py":
                continue
            for line, text in _literals(path):
                if bare := _bare_names(text):
                    yield f"{_name(path)}:{line}: {bare}"
                if re.fullmatch(r"[a-z_]+_v\d+", text) and f"_{namespace.MARK}_v" not in text:
                    yield f"{_name(path)}:{line}: policy id {text!r} without the mark"

    _none(findings())


@pytest.mark.promise("preview-names")
def test_names_come_from_one_function() -> None:
    spelled = re.compile(rf"{namespace.BASE}[-_]{namespace.MARK}", re.IGNORECASE)
    _none(
        f"{_name(path)}:{line}: {text!r}"
        for path in SOURCES
        if _name(path) != "host/namespace.py"
        for line, text in _literals(path)
        if spelled.search(text)
    )


@pytest.mark.promise("preview-names")
def test_the_distribution_and_its_script_are_named_by_the_same_function() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == namespace.name()
    assert set(project["scripts"]) == {namespace.SCRIPT}


# ------------------------------------------------------------------------------------------------- what is committed


_MACHINE = re.compile(r"/(work/(main|shared|plan)|root/|opt/(?!homebrew/)|tmp/v/)")
_ADDRESS = re.compile(r"https?://(?:[^@\s\"]*@)?([\w.-]+)", re.I)
_NAMES = {"127.0.0.1", "localhost", "www.w3.org", "api.openai.com", "api.anthropic.com"}  # here, and what users name


def _texts(keep: Callable[[Path], bool]) -> Iterator[tuple[Path, str]]:
    data = (ROOT / "tests" / "data", ROOT / "host" / "demo", ROOT / "LICENSE")  # recorded or others' texts
    for path in _tracked():
        if keep(path) and (path.suffix == ".py" or not any(path.is_relative_to(folder) for folder in data)):
            yield path, path.read_text(encoding="utf-8", errors="replace")


def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    _none(
        f"{_name(path)}: {match[0]}"
        for path, text in _texts(lambda path: path != Path(__file__))
        for match in _MACHINE.finditer(text)
    )


def test_no_code_or_build_file_holds_an_address_to_fetch_from() -> None:
    built = {".py", ".toml", ".txt", ".cfg", ".sh", ""}
    _none(
        f"{_name(path)}: {match[0]}"
        for path, text in _texts(lambda path: path.suffix in built)
        for match in _ADDRESS.finditer(text)
        if match[1] not in _NAMES and not match[1].lower().endswith((".example", ".test", ".invalid"))
    )
