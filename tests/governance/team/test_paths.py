"""A path of a memory is the same file on every system, and a plan writes into a memory alone."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team.paths import folded, in_the_making, is_git_name, target, unsafe, unsafe_name

ROOT = ".remora-pre/memory"
PATHS = Path(__file__).parents[2] / "data" / "adversarial" / "paths.jsonl"


def cases() -> list[Any]:
    return [json.loads(line) for line in PATHS.read_text("utf-8").splitlines()]


def made(path: str) -> str:
    """`GEN:repeat:<s>:<n>` is made at test time."""
    if not path.startswith("GEN:repeat:"):
        return path
    piece, _, times = path.removeprefix("GEN:repeat:").rpartition(":")
    return piece * int(times)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["kind"])
def test_a_path_of_the_fixtures_ends_as_it_says(case: Any) -> None:
    problem = unsafe(made(case["path"]))

    assert (problem is None) == (case["expect"] == "accept")
    assert problem is None or problem.endswith(".")


def test_no_path_of_the_fixtures_is_a_target() -> None:
    for case in cases():
        assert target(made(case["path"]), ROOT) is not None
        assert target(f"{ROOT}/{made(case['path'])}", ROOT) is not None
        assert target(f"{ROOT}/entries/{made(case['path'])}", ROOT) is not None


@pytest.mark.parametrize(
    "path",
    [
        "entries/publish-only-1c9a77e0.md",
        "entries/work_fact-1c9a77e0.md",
        "scenes/release.md",
        "doctrine.md",
        "skills/release-notes/SKILL.md",
        "entries/發布.md",
    ],
)
def test_files_of_a_memory_are_targets(path: str) -> None:
    assert target(f"{ROOT}/{path}", ROOT) is None


@pytest.mark.parametrize(
    "path",
    [
        ".remora-pre/doctrine.md",
        ".remora-pre/memory",
        f"{ROOT}/index.json",
        f"{ROOT}/notes.md",
        f"{ROOT}/entries",
        f"{ROOT}/entries/.md",
        f"{ROOT}/entries/a.txt",
        f"{ROOT}/entries/a/b.md",
        f"{ROOT}/entries/../../../a.md",
        f"{ROOT}/entries//a.md",
        f"{ROOT}/Entries/a.md",
        f"{ROOT}/scenes/a.md/",
        f"{ROOT}/skills/a/skill.md",
        f"{ROOT}/skills/A/SKILL.md",
        f"{ROOT}/skills/a/run.sh",
        f"{ROOT}/entries/.rpx-0123.new",
        "../.remora-pre/memory/doctrine.md",
        "/x/.remora-pre/memory/doctrine.md",
    ],
)
def test_nothing_else_is_a_target(path: str) -> None:
    assert target(path, ROOT)


@pytest.mark.parametrize(
    "name", [".git", ".GIT", "git~1", "GIT~2", ".g\u200cit", ".git ", ".git.", "．git", ".gitmodules"]
)
def test_names_that_pass_for_gits_own_are_known(name: str) -> None:
    assert is_git_name(name)
    assert unsafe_name(name)


@pytest.mark.parametrize("name", ["git", "git-hooks.md", "legit.md", "a.git.md"])
def test_words_about_git_are_words(name: str) -> None:
    assert not is_git_name(name)
    assert unsafe_name(name) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A.md", "a.md"),
        ("straße.md", "STRASSE.md"),
        ("cafe\u0301.md", "café.md"),
        ("a\u200b.md", "a.md"),
        ("ａ.md", "a.md"),
    ],
)
def test_names_that_some_system_takes_for_one_are_folded_to_one(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    "name", ["NUL", "com1.md", "LPT9.txt", "CLAUDE.md", "agents.md", "Gemini.md", "a.Md", " a.md", "a.md."]
)
def test_names_that_mean_more_elsewhere_are_refused(name: str) -> None:
    assert unsafe_name(name)


@given(st.text(max_size=40))
def test_a_safe_path_never_leads_out(path: str) -> None:
    if unsafe(path) is None:
        steps = path.split("/")
        assert steps == list(Path(path).parts)
        assert not {"", ".", ".."} & set(steps)
        assert not any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in path)


@given(st.text(alphabet=". ~gitGIT\u200c/\\-", max_size=12))
def test_no_step_of_a_safe_path_is_gits(path: str) -> None:
    if unsafe(path) is None:
        assert not any(
            step.strip(". \u200c").casefold() in ("", "git~1") or step.startswith(".") for step in path.split("/")
        )


def test_what_a_promotion_has_in_the_making_is_known_by_its_name() -> None:
    assert in_the_making(".rpx-0123456789abcdef.new")
    assert in_the_making(".RPX-0123456789abcdef.hold")
    assert not in_the_making("rpx-notes.md")
