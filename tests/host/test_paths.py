"""Where the socket is: the same for the daemon and every client, short enough, and in a safe folder."""

import os
from pathlib import Path

import pytest

from host.namespace import HTTP_SOCKET_FILE, SOCKET_FILE, env, name
from host.paths import ADDRESS_BYTES, folder_problem, socket_path

UID = os.getuid()


def test_the_runtime_folder_is_used_when_it_is_ours_alone(run_dir: Path) -> None:
    assert socket_path({"XDG_RUNTIME_DIR": str(run_dir)}, UID) == f"{run_dir}/{name()}/{SOCKET_FILE}"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_runtime_folder_that_others_may_write_to_is_not_used(run_dir: Path, mode: int) -> None:
    run_dir.chmod(mode)

    path = socket_path({"XDG_RUNTIME_DIR": str(run_dir), "TMPDIR": "/tmp/x"}, UID)

    assert path == f"/tmp/x/{name(str(UID))}/{SOCKET_FILE}"


@pytest.mark.parametrize("environ", [{}, {"XDG_RUNTIME_DIR": "relative"}, {"TMPDIR": "relative"}, {"TMPDIR": ""}])
def test_without_one_the_users_own_folder_below_the_temporary_one_is_used(environ: dict[str, str]) -> None:
    assert socket_path(environ, 1234) == f"/tmp/{name('1234')}/{SOCKET_FILE}"


def test_a_socket_can_be_chosen(run_dir: Path) -> None:
    chosen = run_dir / "own" / "d.sock"

    assert socket_path({env("socket"): str(chosen), "XDG_RUNTIME_DIR": str(run_dir)}, UID) == str(chosen)


@pytest.mark.promise("field-cases")
def test_a_name_that_is_too_long_becomes_a_short_one_of_its_own() -> None:
    """Case socket-path-too-long."""
    long, other = f"/{'a' * 150}/d.sock", f"/{'b' * 150}/d.sock"

    short = socket_path({env("socket"): long}, UID)

    assert len(os.fsencode(short)) <= ADDRESS_BYTES
    assert len(os.fsencode(os.path.join(os.path.dirname(short), HTTP_SOCKET_FILE))) <= ADDRESS_BYTES
    assert short == socket_path({env("socket"): long}, UID)
    assert short != socket_path({env("socket"): other}, UID)


def test_the_longest_name_that_fits_is_kept() -> None:
    folder = "/" + "a" * (ADDRESS_BYTES - 2 - len(HTTP_SOCKET_FILE))

    assert socket_path({env("socket"): f"{folder}/d.sock"}, UID) == f"{folder}/d.sock"
    assert socket_path({env("socket"): f"{folder}a/d.sock"}, UID) != f"{folder}a/d.sock"


def test_a_safe_folder_has_no_problem(run_dir: Path) -> None:
    assert folder_problem(str(run_dir), UID) is None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_a_problem(run_dir: Path, mode: int) -> None:
    run_dir.chmod(mode)

    assert f"{mode:04o}" in (folder_problem(str(run_dir), UID) or "")


def test_a_link_a_file_a_stranger_and_nothing_are_problems(run_dir: Path) -> None:
    (run_dir / "link").symlink_to(run_dir)
    (run_dir / "file").touch()

    problems = [
        folder_problem(str(run_dir / "link"), UID),
        folder_problem(str(run_dir / "file"), UID),
        folder_problem(str(run_dir / "none"), UID),
        folder_problem(str(run_dir), UID + 1),
    ]

    assert problems == [
        "it is not a folder",
        "it is not a folder",
        "it does not exist",
        "it belongs to another user",
    ]
