"""The indexing process: `python -m host.indexer`. Reads and analyses memory files for the daemon while a large root is
taken in, and ends with its input (`recall.reader`)."""

import os
import signal
import sys
from typing import BinaryIO

from governance.screen import SCREEN, is_instruction_like
from recall.entries import Guard
from recall.reader import answer

NICER = 5  # an agent's own work comes first
COMMAND = (sys.executable, "-P", "-m", "host.indexer")


def guard() -> Guard:
    """Which texts are kept out of passes: the same in both processes."""
    return Guard(SCREEN, is_instruction_like)


def main(source: BinaryIO, sink: BinaryIO) -> int:
    """Serve until the daemon is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's; we end with our input
    os.nice(NICER)
    try:
        answer(source, sink, guard())
    except BrokenPipeError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
