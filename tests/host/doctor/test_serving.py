"""The socket, the daemon and its HTTP side: each state is brought about with real files, sockets and processes, is
seen, and is gone once what the finding says was done."""

import fcntl
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from host.doctor import serving
from host.namespace import env
from tests.support.patients import Patient, mode
from tests.support.patients import serving as served

QUICK = 0.3


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for who does not answer."""
    monkeypatch.setattr("host.doctor.scene.SECONDS", QUICK)


# ------------------------------------------------------------------------------------------------------------- socket


def test_a_socket_folder_that_others_can_write_to_is_told(patient: Patient) -> None:
    folder = patient.settle().socket.parent
    folder.chmod(0o777)

    one = patient.the(serving.socket_folder)

    assert one.state == "socket-folder-unsafe" and f"chmod 700 {folder}" in one.todo
    folder.chmod(0o700)
    assert patient.states(serving.socket_folder) == []


def test_a_socket_folder_that_is_a_link_is_told(patient: Patient) -> None:
    folder = patient.settle().socket.parent
    folder.rmdir()
    folder.symlink_to(patient.home)

    assert patient.states(serving.socket_folder) == ["socket-folder-unsafe"]


def test_a_runtime_folder_that_cannot_be_used_is_told(patient: Patient) -> None:
    theirs = {env("socket"): "", "XDG_RUNTIME_DIR": str(patient.folder / "gone"), "TMPDIR": str(patient.folder)}

    one = patient.the(serving.socket_folder, **theirs)

    assert one.state == "runtime-folder-unsafe" and str(patient.folder) in one.why
    (patient.folder / "gone").mkdir(mode=0o700)
    assert patient.states(serving.socket_folder, **theirs) == []


def test_a_long_name_is_told_with_the_short_one(patient: Patient) -> None:
    long = patient.folder / ("x" * 120) / "d.sock"

    one = patient.the(serving.socket_folder, **{env("socket"): str(long)})

    assert (one.state, one.where) == ("socket-path-long", str(long))
    assert len(str(patient.scene(**{env("socket"): str(long)}).paths.socket)) <= 103


def test_what_stands_in_the_sockets_way_is_told_and_moved(patient: Patient) -> None:
    path = patient.settle().socket
    path.write_text("mine", "utf-8")

    one = patient.the(serving.socket_file)

    assert one.state == "socket-blocked"
    _, source, target = one.todo.split(": ")[1].split()
    Path(source).rename(target)
    assert patient.states(serving.socket_file) == []


@pytest.mark.reliability
def test_a_socket_that_is_left_over_is_told_until_a_daemon_starts(patient: Patient) -> None:
    patient.daemon.start()
    patient.daemon.kill()

    assert patient.states(serving.socket_file, serving.daemon) == ["socket-stale", "daemon-absent"]
    with patient.daemon:
        assert patient.states(serving.socket_file, serving.daemon) == []


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b'{"id":1,"result":[]}\n'])
def test_another_programs_socket_is_told(patient: Patient, answer: bytes, quick: None) -> None:
    path = patient.settle().socket
    with served(path) as listening:

        def speak() -> None:
            while True:
                try:
                    connected, _ = listening.accept()
                except OSError:
                    return
                with connected, suppress(OSError):
                    connected.recv(4096)
                    connected.sendall(answer)

        listener = threading.Thread(target=speak, daemon=True)
        listener.start()

        assert patient.states(serving.socket_file, serving.daemon) == ["socket-foreign"]
        listening.shutdown(socket.SHUT_RDWR)
        listener.join(5)


# ------------------------------------------------------------------------------------------------------------- daemon


def test_no_daemon_is_told_and_a_running_one_is_not(patient: Patient, running: Patient) -> None:
    assert patient.states(serving.daemon) == ["daemon-absent"]
    assert running.states(serving.daemon, serving.version, serving.parts, serving.http, serving.secrets) == []


@pytest.mark.reliability
def test_a_daemon_that_hangs_is_told_by_its_pid(patient: Patient, quick: None) -> None:
    with patient.daemon:
        process = patient.daemon.process
        assert process is not None
        process.send_signal(signal.SIGSTOP)
        try:
            one = patient.the(serving.socket_file, serving.daemon, serving.http)  # the port is its own
        finally:
            process.send_signal(signal.SIGCONT)

        assert one.state == "daemon-silent" and f"(pid {process.pid})" in one.what
    assert patient.states(serving.daemon) == ["daemon-absent"]


def test_a_lock_that_nobody_serves_is_told(patient: Patient) -> None:
    lock = patient.settle().lock
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(f"{os.getpid()}\n")
        held.flush()

        one = patient.the(serving.daemon)

    assert one.state == "daemon-stuck" and f"(pid {os.getpid()})" in one.what
    assert lock.read_text() == f"{os.getpid()}\n"  # it was only looked at; a daemon that was killed leaves it so
    assert patient.states(serving.daemon) == ["daemon-absent"]


def test_a_daemon_of_other_data_is_told(running: Patient) -> None:
    one = running.the(serving.daemon, **{env("data"): str(running.folder / "elsewhere")})

    assert one.state == "daemon-elsewhere" and str(running.paths.data) in one.what


def test_a_daemon_on_another_socket_that_has_our_data_is_told(running: Patient) -> None:
    one = running.the(serving.daemon, **{env("socket"): str(running.folder / "other" / "d.sock")})

    assert one.state == "daemon-elsewhere" and "from another socket" in one.what


@pytest.mark.reliability
@pytest.mark.parametrize(
    ("older", "said"),
    [("daemon._version = lambda: '0.0.7'", "version 0.0.7"), ("build.stamp = lambda: 'code_old'", "other code")],
)
def test_a_daemon_of_an_older_version_is_told_until_it_is_started_anew(patient: Patient, older: str, said: str) -> None:
    older = f"import sys; from host import build, daemon; {older}; sys.exit(daemon.main([]))"
    patient.daemon.command = (sys.executable, "-c", older)
    with patient.daemon:
        one = patient.the(serving.version)
    patient.daemon.command = (sys.executable, "-m", "host.daemon")

    assert one.state == "daemon-older" and said in one.what
    with patient.daemon:
        assert patient.states(serving.version) == []


def test_a_port_of_a_daemon_that_is_not_reached_from_here_is_not_called_taken(running: Patient) -> None:
    """From a session without the runtime folder, for one. It listens itself."""
    assert running.states(serving.http, **{env("socket"): str(running.folder / "other" / "d.sock")}) == []


def test_a_port_that_was_moved_since_the_daemon_began_is_no_longer_called_taken(running: Patient) -> None:
    scene = running.scene()
    assert scene.said is not None
    scene.said.parts.update(http="The port 1 cannot be had: Address already in use.")

    (one,) = serving.http(scene)

    assert one.state == "daemon-unwell" and "start the daemon anew" in one.todo


def test_a_part_that_is_not_well_is_told(running: Patient) -> None:
    """As the daemon would say it: what breaks its parts is shown by its own tests."""
    scene = running.scene()
    assert scene.said is not None
    scene.said.parts.update(log="the disk is full", socket="lost", **{"source engine": "resting, 3 failures"})

    found = [*serving.parts(scene)]

    assert [(one.state, one.where) for one in found] == [
        ("daemon-unwell", "log"),
        ("source-resting", "source engine"),
    ]


# --------------------------------------------------------------------------------------------------------------- http


@pytest.mark.reliability
def test_a_port_that_another_program_holds_is_told_with_and_without_a_daemon(patient: Patient) -> None:
    paths = patient.settle()
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        paths.port_file.write_text(str(holder.getsockname()[1]), "ascii")

        without = patient.the(serving.http)
        with patient.daemon:
            beside = patient.the(serving.http)

    assert without.state == beside.state == "port-taken"
    with patient.daemon:
        assert patient.states(serving.http) == []


@pytest.mark.reliability
def test_a_damaged_port_is_told_until_it_is_removed(patient: Patient) -> None:
    paths = patient.settle()
    paths.port_file.write_text("many", "ascii")

    with patient.daemon:
        assert patient.states(serving.http) == ["port-damaged"]
    paths.port_file.unlink()
    with patient.daemon:
        assert patient.states(serving.http) == []


@pytest.mark.reliability
def test_a_file_in_the_way_of_the_second_socket_is_told_until_it_is_moved(patient: Patient) -> None:
    paths = patient.settle()
    paths.http_socket.write_text("mine", "utf-8")
    with patient.daemon:
        one = patient.the(serving.http)
    paths.http_socket.unlink()

    assert one.state == "daemon-unwell" and str(paths.http_socket) in one.what
    with patient.daemon:
        assert patient.states(serving.http, serving.parts) == []


def test_without_http_nothing_is_said_of_it(patient: Patient) -> None:
    paths = patient.settle()
    paths.port_file.write_text("many", "ascii")
    patient.configure("[daemon]\nhttp = false\n")

    assert patient.states(serving.http) == []


def test_a_damaged_token_is_told_until_it_is_removed_and_never_shown(patient: Patient) -> None:
    token = patient.settle().token_file
    token.write_text("half-a-token", "ascii")

    one = patient.the(serving.secrets)

    assert one.state == "token-damaged" and "half-a-token" not in repr(one)
    token.unlink()
    assert patient.states(serving.secrets) == []


@pytest.mark.parametrize("name", ["token_file", "key_file"])
def test_a_secret_that_others_can_read_is_told(patient: Patient, name: str) -> None:
    file: Path = getattr(patient.settle(), name)
    secret = file.read_bytes()
    file.chmod(0o644)

    one = patient.the(serving.secrets)

    assert one.state == "secret-readable" and mode(file) == 0o644  # nothing is changed by looking
    assert secret.hex() not in repr(one) and secret.decode("latin-1") not in repr(one)
    file.chmod(int(one.todo.split()[1], 8))
    assert patient.states(serving.secrets) == []
