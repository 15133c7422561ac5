"""Acts: one line a call, the same on both sides, without anybody's folders."""

import pytest

from recall.acts import LONGEST, act_of, file_of, is_edit, is_general, only_looks, sorts_of_error


@pytest.mark.parametrize(
    ("command", "act"),
    [
        ("make seal", "make seal"),
        ("  make   seal  ", "make seal"),
        ("cd /home/me/repo && make seal 2>&1 | tail -n 20", "make seal"),
        ("cd 'a folder' && cd b; make seal >/dev/null 2>&1", "make seal"),
        ("make seal || true", "make seal"),
        ("CI=1 make seal && make ship", "CI=1 make seal && make ship"),
        ("rm -rf /home/me/repo/build/seal.stamp", "rm -rf …/build/seal.stamp"),
        ("cat ~/notes/a/b.txt", "cat …/a/b.txt"),
        ("ls /tmp/x > /dev/stderr", "ls /tmp/x > /dev/stderr"),
        ("curl https://localhost/a/b/c/d", "curl https://localhost/a/b/c/d"),
        ("# first the seal\n\nmake seal\nmake ship", "make seal; make ship"),
        ("cd /srv/app\nmake seal", "make seal"),
        ("python - <<'E'\nprint(1)\nE", ""),
        ("echo `date`", "echo 'date'"),
        ("", ""),
        ("# nothing", ""),
        ("部署 生产环境", "部署 生产环境"),
    ],
)
def test_a_shell_call_is_its_command(command: str, act: str) -> None:
    assert act_of("shell", command) == act
    assert act_of("shell", act) == act  # reduced again it stays


def test_any_other_call_is_its_tool_and_file() -> None:
    assert act_of("edit", "- a\n+ b", "/home/me/repo/src/a.py") == "edit …/src/a.py"
    assert act_of("edit", "- a\n+ b", "src/a.py") == "edit src/a.py"
    assert act_of("agent", "look around") == ""


def test_a_long_command_is_cut_alike_on_both_sides() -> None:
    act = act_of("shell", "make " + "x" * 300)
    assert len(act) == LONGEST and act == act_of("shell", f"cd /srv/app && make {'x' * 300}")


def test_a_file_keeps_the_end_of_its_path() -> None:
    assert [file_of(path) for path in ("/a/b/c/d.py", "/a/b.py", "a/b/c.py", "~/b.py")] == [
        *("…/c/d.py", "/a/b.py", "a/b/c.py", "…/b.py")
    ]


@pytest.mark.parametrize(
    "act",
    [
        "cat a",
        "rg x",
        "git status",
        "git -C x log -3",
        "read src/a.py",
        "/bin/ls",
        "sed -n 1,3p a",
        "go doc x",
        "npm ls",
    ],
)
def test_what_only_looks_is_no_event(act: str) -> None:
    assert only_looks(act)


@pytest.mark.parametrize("act", ["make seal", "git push", "edit a.py", "sed -i s/a/b/ c", "rm a", "category build"])
def test_what_changes_or_checks_is_one(act: str) -> None:
    assert not only_looks(act)


@pytest.mark.parametrize(
    "act",
    [
        *("pytest -q tests", "python -m pytest", "uv run pytest", "npm test", "npm run build", "go test ./...", "make"),
        *("make test", "cargo build --release", "git push origin main", "python run.py", "npx tsc --noEmit"),
    ],
)
def test_what_fails_for_all_sorts_of_reasons_is_general(act: str) -> None:
    assert is_general(act)


@pytest.mark.parametrize("act", ["make seal", "make test-seal", "npm run seal", "docker compose up", "terraform apply"])
def test_what_one_project_has_is_not(act: str) -> None:
    assert not is_general(act)


def test_what_changes_text_is_an_edit() -> None:
    edits = ("edit a.py", "sed -i s/a/b/ c", "git commit -m x", "python - <<E", "python -")
    others = ("sed -n 1p a", "make seal", "git push", "editor a", "python run.py", "rm a.stamp")

    assert [act for act in (*edits, *others) if is_edit(act)] == list(edits)


def test_sorts_of_errors_are_named_once() -> None:
    assert sorts_of_error("ERROR: connect ECONNREFUSED 127.0.0.1") == ("ECONNREFUSED",)
    assert sorts_of_error("KeyError: x\nKeyError: y\nSealBrokenError ModuleNotFoundError") == (
        *("KeyError", "SealBrokenError", "ModuleNotFoundError"),
    )
