"""A daemon that asks a command as its model leaves no process behind, however it ends."""

import os
import select
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.daemon import RunningDaemon, a_message
from tests.support.models import running

pytestmark = pytest.mark.reliability
SESSIONS = 100
AT_ONCE = 2  # jobs that run


@pytest.mark.promise("field-cases")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_children_end_with_the_daemon(run_dir: Path, end: signal.Signals) -> None:
    """Case children-end-with-daemon: a hundred sessions are over, the commands hang, and the daemon ends."""
    mark, fifo = str(run_dir), run_dir / "runs"
    os.mkfifo(fifo)
    program = f"import time; held = open({str(fifo)!r}, 'w'); held.write('x'); held.flush(); time.sleep(600)"
    command = f'[{sys.executable!r}, \'-c\', """{program}""", {mark!r}]'
    daemon = RunningDaemon(run_dir)
    daemon.data.mkdir(mode=0o700, parents=True)
    settings = f"[recall]\nengine = false\n[formation]\ndriver = 'command'\ncommand = {command}\n"
    (daemon.data / "config.toml").write_text(settings, "utf-8")
    with ExitStack() as opened:
        daemon.start()
        opened.callback(daemon.kill)
        with daemon.connect() as wire:
            for number in range(SESSIONS):
                said = a_message(f"s-{number}", 2 * number, f"From now on rule {number} holds.")
                over = {"eventType": "session/end", "sourceKind": "lifecycle", "payload": {}}
                ended = a_message(f"s-{number}", 2 * number + 1, "") | over
                wire.call("event.append", events=[said, ended])
        with fifo.open() as held:
            assert held.read(AT_ONCE) == "x" * AT_ONCE
            assert len([one for one in running(mark) if one != daemon.process.pid]) >= 2 * AT_ONCE

            daemon.process.send_signal(end)
            daemon.process.wait(30)
            while select.select([held], [], [], 30)[0] and held.read(1):
                pass  # what the next ones said; the end comes when none is left that could
        assert running(mark) == []
