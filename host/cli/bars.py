"""A bar for work that takes a while: on standard error, on a terminal only, gone when the work is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

Told = Callable[[float, float], None]


@contextmanager
def bar(doing: str) -> Iterator[Told]:
    """Call the result with what is done and what there is in all; 0 in all: not known yet."""
    out = Console(stderr=True, highlight=False, emoji=False, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as shown:
        task = shown.add_task(doing, total=None)

        def told(done: float, total: float) -> None:
            shown.update(task, completed=done, total=total or None)

        yield told
