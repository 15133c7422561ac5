"""The socket is ours alone: folder, lock before bind, stale and busy, the peer, and the watch over the name."""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from host.errors import SocketFault
from host.namespace import LATE_FILE, STOPPED_FILE
from host.sockets import (
    Listener,
    Lock,
    bind,
    bind_loopback,
    credentials,
    ensure_folder,
    inode,
    is_served,
    is_stopped,
    leave_stopped,
    set_aside,
    start_anew,
    unlink,
    well_again,
)


@contextmanager
def served(path: Path) -> Iterator[socket.socket]:
    with closing(bind(path)) as listening:
        yield listening


def stale(path: Path) -> None:
    """What a killed daemon leaves."""
    bind(path).close()


# ------------------------------------------------------------------------------------------------------------- folder


def test_the_folder_is_made_for_its_owner_alone(run_dir: Path) -> None:
    ensure_folder(run_dir / "a" / "b")

    assert (run_dir / "a" / "b").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_too_open_is_refused(run_dir: Path, mode: int) -> None:
    run_dir.chmod(mode)

    with pytest.raises(SocketFault, match="others may write"):
        ensure_folder(run_dir)


def test_a_folder_behind_a_link_is_refused(run_dir: Path) -> None:
    (run_dir / "real").mkdir(0o700)
    (run_dir / "link").symlink_to("real")

    with pytest.raises(SocketFault, match="not a folder"):
        ensure_folder(run_dir / "link")


def test_a_folder_that_cannot_be_made_is_refused(run_dir: Path) -> None:
    (run_dir / "file").touch()

    with pytest.raises(SocketFault, match="cannot be made"):
        ensure_folder(run_dir / "file" / "below")


# --------------------------------------------------------------------------------------------------------------- lock


def test_one_lock_has_one_holder(run_dir: Path) -> None:
    first, second = Lock(run_dir / "lock"), Lock(run_dir / "lock")

    assert first.take() and not second.take()
    assert second.holder() == str(os.getpid())
    first.release()
    assert second.take()
    second.release()
    assert second.holder() == "?"
    assert (run_dir / "lock").exists()


def test_a_lock_file_that_is_a_link_is_refused(run_dir: Path) -> None:
    (run_dir / "lock").symlink_to("elsewhere")

    with pytest.raises(SocketFault, match="cannot be opened"):
        Lock(run_dir / "lock").take()
    assert Lock(run_dir / "none").holder() == "?"


# --------------------------------------------------------------------------------------------------------------- bind


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_socket_is_closed_to_others_whatever_the_mask(run_dir: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with served(run_dir / "s"):
            assert (run_dir / "s").stat().st_mode & 0o777 == 0o600
    finally:
        assert os.umask(before) == mask


@pytest.mark.promise("field-cases")
def test_a_stale_socket_is_replaced(run_dir: Path) -> None:
    """Case stale-socket-file."""
    stale(run_dir / "s")
    assert not is_served(run_dir / "s")

    with served(run_dir / "s"):
        assert is_served(run_dir / "s")


def test_a_busy_socket_is_never_replaced(run_dir: Path) -> None:
    with served(run_dir / "s"):
        before = inode(run_dir / "s")
        with pytest.raises(SocketFault, match="serves"):
            bind(run_dir / "s")
        assert inode(run_dir / "s") == before


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_what_is_no_socket_is_left_alone(run_dir: Path, kind: str) -> None:
    path = run_dir / "s"
    {"file": path.touch, "folder": path.mkdir, "link": lambda: path.symlink_to("nowhere")}[kind]()

    with pytest.raises(SocketFault, match="no socket"):
        bind(path)
    assert inode(path) is not None


def test_a_name_that_is_too_long_and_a_folder_that_is_missing_are_said(run_dir: Path) -> None:
    with pytest.raises(SocketFault, match="longer than"):
        bind(run_dir / ("x" * 104))
    with pytest.raises(SocketFault, match="cannot be bound"):
        bind(run_dir / "none" / "s")


def test_only_our_own_file_is_unlinked(run_dir: Path) -> None:
    with served(run_dir / "s"):
        ours = inode(run_dir / "s")
        (run_dir / "s").rename(run_dir / "old")
        (run_dir / "s").touch()
        unlink(run_dir / "s", ours)
        assert (run_dir / "s").exists()
        unlink(run_dir / "old", ours)
        unlink(run_dir / "old", ours)
        assert not (run_dir / "old").exists()


def test_a_port_that_is_held_is_said() -> None:
    with closing(bind_loopback(0)) as held:
        host, port = held.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(SocketFault, match=f"port {port}"):
            bind_loopback(port)


def test_the_peer_is_known() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert credentials(one).uid == os.getuid()
    with socket.socket() as tcp:
        tcp.close()
        assert credentials(tcp) == (None, None)


# -------------------------------------------------------------------------------------------------------------- watch


class Greets(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"hello")
        transport.close()


async def answered(path: Path) -> bytes:
    async with asyncio.timeout(5):
        reader, writer = await asyncio.open_unix_connection(str(path))
        said = await reader.read()
        writer.close()
        await writer.wait_closed()
        return said


@pytest.fixture
async def listener(run_dir: Path) -> Listener:
    opened = Listener(run_dir / "s", Greets)
    await opened.open()
    return opened


async def test_a_listener_serves_until_it_is_closed_and_removes_its_file(listener: Listener) -> None:
    assert await answered(listener.path) == b"hello"
    assert not await listener.watch()
    assert listener.state == "ok"

    listener.close()
    listener.remove()

    assert listener.state == "closed"
    assert inode(listener.path) is None
    assert not await listener.watch()


async def test_a_deleted_socket_file_comes_back(listener: Listener) -> None:
    listener.path.unlink()

    assert await listener.watch()
    assert await answered(listener.path) == b"hello"
    listener.close()


async def test_a_deleted_folder_comes_back(run_dir: Path) -> None:
    listener = Listener(run_dir / "below" / "s", Greets)
    ensure_folder(run_dir / "below")
    await listener.open()
    listener.path.unlink()
    listener.path.parent.rmdir()

    assert await listener.watch()
    assert await answered(listener.path) == b"hello"
    listener.close()


@pytest.mark.parametrize("kind", ["stale", "file"])
async def test_a_foreign_file_in_our_place_is_moved_aside_and_never_unlinked(listener: Listener, kind: str) -> None:
    listener.path.unlink()
    stale(listener.path) if kind == "stale" else listener.path.touch()
    foreign = inode(listener.path)

    assert await listener.watch()

    assert await answered(listener.path) == b"hello"
    assert inode(listener.path.with_name("s.foreign")) == foreign
    listener.close()


async def test_a_foreign_socket_that_is_served_is_left_and_reported_until_it_goes(listener: Listener) -> None:
    listener.path.unlink()
    with served(listener.path):
        foreign = inode(listener.path)
        assert not await listener.watch()
        assert "serves" in listener.state
        listener.remove()
        assert inode(listener.path) == foreign

    assert await listener.watch()
    assert listener.state == "ok"
    listener.close()


async def test_an_unsafe_folder_is_reported(listener: Listener, run_dir: Path) -> None:
    listener.path.unlink()
    run_dir.chmod(0o777)

    assert not await listener.watch()
    assert "not safe" in listener.state
    listener.close()


def test_what_cannot_be_moved_aside_is_said(run_dir: Path) -> None:
    with pytest.raises(SocketFault, match="cannot be moved"):
        set_aside(run_dir / "none")


def test_a_mark_of_a_late_answer_goes_once_it_is_old_enough(run_dir: Path) -> None:
    mark = run_dir / LATE_FILE
    mark.touch()
    os.utime(mark, (1000, 1000))

    assert not well_again(run_dir, 1002.9, 3.0) and mark.exists()
    assert well_again(run_dir, 1003.1, 3.0) and not mark.exists()
    assert not well_again(run_dir, 1003.1, 3.0)


def test_a_mark_of_a_clock_that_was_set_back_does_not_stay(run_dir: Path) -> None:
    (run_dir / LATE_FILE).touch()
    os.utime(run_dir / LATE_FILE, (9000, 9000))

    assert well_again(run_dir, 1000, 3.0)


def test_a_mark_of_this_moment_stays_though_the_clock_is_read_in_whole_milliseconds(run_dir: Path) -> None:
    (run_dir / LATE_FILE).touch()
    os.utime(run_dir / LATE_FILE, (1000.0009, 1000.0009))

    assert not well_again(run_dir, 1000.0, 3.0) and (run_dir / LATE_FILE).exists()


def test_a_mark_says_that_a_person_stopped_it_until_one_starts(run_dir: Path) -> None:
    folder = run_dir / "s"
    assert not is_stopped(folder)
    for _ in range(2):
        leave_stopped(folder)
        assert is_stopped(folder)
    for _ in range(2):
        start_anew(folder)
        assert not is_stopped(folder)


def test_a_mark_that_cannot_be_made_is_said(run_dir: Path) -> None:
    (run_dir / STOPPED_FILE).symlink_to("elsewhere")
    with pytest.raises(SocketFault, match="cannot be made"):
        leave_stopped(run_dir)
    assert not (run_dir / "elsewhere").exists()
