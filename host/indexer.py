"""The indexing process: `python -m host.indexer`. Reads and analyses memory files for the daemon while a large root is
taken in, and ends with its input (`recall.reader`)."""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from governance.screen import SCREEN, is_instruction_like, redact
from recall.entries import Guard
from recall.reader import answer

NICER = 5  # an agent's own work comes first
Asked = Callable[[str, str], bool]
COMMAND = (sys.executable, "-P", "-m", "host.indexer")


def guard(admits: Asked | None = None, vouches: Asked | None = None) -> Guard:
    """Which texts are kept out of passes, and what of a text no index holds: the same in both processes. `admits`: what
    a person let through, by memory id and record digest; `vouches`: files that we wrote, by workspace key and digest.
    Both are asked where the index is written, and that is the daemon."""
    kept_out = Guard(SCREEN, is_instruction_like, clean=_clean)
    kept_out = replace(kept_out, admits=admits) if admits else kept_out
    return replace(kept_out, vouches=vouches) if vouches else kept_out


def _clean(text: str) -> str:
    return redact(text)[0]


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
