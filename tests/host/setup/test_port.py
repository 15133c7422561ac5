"""The port is kept, and moves with a new token when another program holds it."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.config import Config, DaemonSettings, Paths, ensure_port, http_token, locate
from host.errors import ConfigFault, RemoraError
from host.namespace import env
from host.setup.port import door


@pytest.fixture
def where(tmp_path: Path) -> Paths:
    return locate({env("data"): str(tmp_path / "data")})


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        yield other.getsockname()[1]


def holds(where: Paths, port: int) -> None:
    ensure_port(where)
    where.port_file.write_text(str(port))


def test_a_free_port_is_kept(where: Paths) -> None:
    first = door(where, Config(), None)
    assert first.new and not where.state.exists()  # only chosen

    keep, _ = first.keep(where)
    keep()

    second = door(where, Config(), None)
    assert not second.new and first.old is None
    assert (first.port, first.token) == (ensure_port(where), http_token(where))


def test_a_first_choice_can_be_undone(where: Paths) -> None:
    keep, undo = door(where, Config(), None).keep(where)
    keep()
    undo()
    assert not where.port_file.exists() and not where.token_file.exists()


@pytest.mark.parametrize("made", [ensure_port, http_token])
def test_a_daemon_that_chose_meanwhile_keeps_its_choice(where: Paths, made: Callable[[Paths], object]) -> None:
    keep, _ = door(where, Config(), None).keep(where)
    theirs = made(where)

    with pytest.raises(RemoraError, match="Nothing was written"):
        keep()

    assert made(where) == theirs


def test_one_of_the_two_files_is_enough_to_start_from(where: Paths) -> None:
    token = http_token(where)
    chosen = door(where, Config(), None)
    chosen.keep(where)[0]()
    assert (chosen.token, http_token(where), ensure_port(where)) == (token, token, chosen.port)


def test_a_port_that_our_daemon_holds_is_kept(where: Paths, taken: int) -> None:
    holds(where, taken)
    assert door(where, Config(), True).port == taken


@pytest.mark.parametrize("listens", [None, False])
def test_a_port_of_another_program_moves_with_a_new_token(where: Paths, taken: int, listens: bool | None) -> None:
    holds(where, taken)
    before = http_token(where)

    moved = door(where, Config(), listens)

    assert moved.old == (taken, before)
    assert moved.port != taken and moved.token != before and len(moved.token) >= 43
    assert (ensure_port(where), http_token(where)) == (taken, before)  # only chosen


def test_a_move_is_written_down_and_can_be_undone(where: Paths, taken: int) -> None:
    holds(where, taken)
    moved = door(where, Config(), None)
    keep, undo = moved.keep(where)

    keep()
    assert (ensure_port(where), http_token(where)) == (moved.port, moved.token)
    assert {file.stat().st_mode & 0o777 for file in (where.port_file, where.token_file)} == {0o600}

    undo()
    assert (ensure_port(where), http_token(where)) == moved.old


def test_a_port_that_the_user_chose_is_never_moved(where: Paths, taken: int) -> None:
    with pytest.raises(ConfigFault, match=f"Another program holds the port {taken}") as caught:
        door(where, Config(daemon=DaemonSettings(http_port=taken)), None)
    assert "http_port" in caught.value.next_step


def test_without_http_nobody_asks_for_the_port(where: Paths, taken: int) -> None:
    holds(where, taken)
    assert door(where, Config(daemon=DaemonSettings(http=False)), None).old is None
