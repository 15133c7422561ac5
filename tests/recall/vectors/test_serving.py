"""The pipe: requests are answered before any work, work is done between them, and the end of input is the end."""

import os
from collections.abc import Iterator, Sequence

import pytest

from recall.errors import EngineFault
from recall.frames import (
    Answer,
    Done,
    EngineState,
    EngineStatus,
    Frames,
    Hello,
    Reply,
    Report,
    Request,
    Sync,
    frame,
)
from recall.vectors.serving import serve


class Scripted:
    """A worker whose work is counted; when there is none left it closes the pipe. Stands for `Worker`."""

    def __init__(self, pipe: int, work: int, stale: bool = False) -> None:
        self.pipe, self.left, self.stale = pipe, work, stale
        self.acts: list[str] = []

    @property
    def busy(self) -> bool:
        return self.left > 0 and not self.stale

    @property
    def waits_for_rest(self) -> bool:
        return self.stale

    def answer(self, request: Request) -> Answer:
        self.acts.append(type(request).__name__)
        return Done(number=request.number)

    def step(self) -> None:
        self.acts.append("step")
        self.left -= 1
        if not self.left:
            os.close(self.pipe)

    def rested(self) -> None:
        self.acts.append("rested")
        self.stale = False

    def status(self) -> EngineStatus:
        state = EngineState.STALE if self.stale else EngineState.EMBEDDING if self.left else EngineState.READY
        return EngineStatus(state=state, records=300, embedded=300 - self.left)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    source, sink = os.pipe()
    yield source, sink
    os.close(source)


def run(worker: Scripted, source: int) -> Sequence[Reply]:
    sent: list[bytes] = []
    serve(worker, source, sent.append, 0.0)  # type: ignore[arg-type]
    return list(Frames().replies(b"".join(sent)))


def test_requests_go_before_work_and_the_end_of_input_is_the_end(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], frame(Hello(number=1)) + frame(Sync(number=2)))
    worker = Scripted(pipe[1], work=2)

    replies = run(worker, pipe[0])

    assert worker.acts == ["Hello", "Sync", "step", "step"]
    assert [one.number for one in replies if isinstance(one, Done)] == [1, 2]


def test_progress_is_told_now_and_then_and_every_new_state(pipe: tuple[int, int]) -> None:
    told = [one.status for one in run(Scripted(pipe[1], work=150), pipe[0]) if isinstance(one, Report)]

    assert [status.embedded for status in told] == [150, 214, 278, 300]
    assert [status.state for status in told] == [*["embedding"] * 3, "ready"]


def test_stale_vectors_wait_for_a_rest(pipe: tuple[int, int]) -> None:
    worker = Scripted(pipe[1], work=1, stale=True)

    run(worker, pipe[0])

    assert worker.acts == ["rested", "step"]


def test_what_is_no_request_ends_it(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"GET / HTTP/1.1\r\n\r\n")
    with pytest.raises(EngineFault):
        run(Scripted(pipe[1], work=0), pipe[0])
    os.close(pipe[1])
