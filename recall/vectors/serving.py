"""The pipe of the engine's process: requests in, replies out, a small step of work whenever nobody asks (M-07).

The process ends when its standard input does: there is no engine without a daemon.
"""

import os
import select
from collections.abc import Callable

from recall.frames import Answer, EngineState, EngineStatus, Frames, Report, frame
from recall.vectors.worker import Worker

LOOK_SECONDS = 5.0  # between two looks at the index when nobody asks
TOLD = 64  # records embedded between two reports
READ = 65_536


def serve(worker: Worker, source: int, send: Callable[[bytes], object], rest_seconds: float) -> None:
    """Answer until the end of `source`. Raises EngineFault when what comes is no request."""
    frames, told = Frames(), worker.status()
    send(frame(Report(status=told)))
    while True:
        answers: list[Answer] = []
        if select.select([source], [], [], _patience(worker, rest_seconds))[0]:
            data = os.read(source, READ)
            if not data:
                return
            answers = [worker.answer(request) for request in frames.requests(data)]
        elif worker.busy:
            worker.step()
        else:
            worker.rested()
        status = worker.status()
        if _worth_telling(status, told):
            send(frame(Report(status=status)))  # before the answers: who has one knows what it changed
            told = status
        for answer in answers:
            send(frame(answer))


def _patience(worker: Worker, rest_seconds: float) -> float:
    if worker.busy:
        return 0
    return rest_seconds if worker.waits_for_rest else LOOK_SECONDS


def _worth_telling(now: EngineStatus, told: EngineStatus) -> bool:
    if (now.state, now.problem) != (told.state, told.problem):
        return True
    moved = abs(now.embedded - told.embedded) + abs(now.records - told.records)
    return moved >= TOLD or (moved > 0 and now.state is EngineState.READY)
