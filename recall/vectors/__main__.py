"""The engine's process: `python -m recall.vectors --index PATH --vectors PATH`. Started and fed by `recall.engine`.

Standard output belongs to the frames alone: whatever else is printed goes where errors go.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from recall.errors import EngineFault
from recall.frames import EngineState, EngineStatus, Report, frame
from recall.vectors.encoder import load
from recall.vectors.serving import serve
from recall.vectors.worker import REMEMBERED, Worker

NICER = 5  # an agent's own work comes first


def main(arguments: Sequence[str]) -> int:
    """Serve until the daemon is gone; 1 when the model cannot be loaded or what comes in makes no sense."""
    parser = argparse.ArgumentParser(prog="recall.vectors")
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--encoder", default="use-m3")
    parser.add_argument("--rest", type=float, default=2.0)
    parser.add_argument("--remembered", type=int, default=REMEMBERED)
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's; we end with our input
    os.nice(NICER)
    with os.fdopen(os.dup(1), "wb", buffering=0) as out:
        os.dup2(2, 1)
        try:
            encoder = load(given.encoder)
        except Exception as error:  # noqa: BLE001  (boundary: a model of somebody else's; said to the daemon)
            problem = f"The model {given.encoder} cannot be loaded: {type(error).__name__}: {error}"
            out.write(frame(Report(status=EngineStatus(state=EngineState.BROKEN, problem=problem))))
            return 1
        worker = Worker(given.index, given.vectors, encoder, given.remembered)
        try:
            serve(worker, 0, out.write, given.rest)
        except (EngineFault, BrokenPipeError):
            return 1
        finally:
            worker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
