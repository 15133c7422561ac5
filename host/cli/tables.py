"""Tables and panels through rich: colours on a terminal only, `NO_COLOR` honoured, data never read as markup."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from host.sanitise import for_terminal
from recall.contracts import Millis

PIPE_WIDTH = 220
PANEL_WIDTH = 110
GAP = 2  # between columns
LAST_COLUMN = 24  # with less room than this for the last column, rows are printed one below the other


def console() -> Console:
    """A console on standard output; wide when nobody looks at it, so that a pipe gets whole lines."""
    out = Console(highlight=False, emoji=False, markup=False, soft_wrap=False)
    return out if out.is_terminal else Console(highlight=False, emoji=False, markup=False, width=PIPE_WIDTH)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under headings. The last column takes what is left of the line; the others are never cut.

    On a terminal too narrow for that, each row stands by itself with the headings in it: an id must stay whole.
    """
    lines = [[for_terminal(cell) for cell in row] for row in rows]
    out = console()
    columns = list(zip(headings, *lines, strict=True))
    widths = [max(cell_len(cell) for cell in column) + GAP for column in columns]
    if sum(widths[:-1]) + min(widths[-1], LAST_COLUMN) > out.width:
        for line in lines:
            for text in _standing(headings, line, out.width):
                out.print(Text(text), soft_wrap=True)
        return
    table = Table(box=None, padding=(0, GAP, 0, 0), header_style="bold")
    for place, heading in enumerate(headings, start=1):
        table.add_column(heading, no_wrap=place < len(headings), overflow="fold")
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    out.print(table)


def _standing(headings: Sequence[str], cells: Sequence[str], width: int) -> Iterator[str]:
    """One row as `heading cell` pairs, as many on a line as fit; later lines are indented. Empty cells are left out."""
    line = ""
    for heading, cell in zip(headings, cells, strict=True):
        if not cell:
            continue
        pair = f"{heading} {cell}"
        if line and cell_len(line) + GAP + cell_len(pair) > width:
            yield line
            line = " " * GAP + pair
        else:
            line += " " * GAP + pair if line else pair
    yield line


def print_panel(title: str, text: str, style: str = "green") -> None:
    """Print a text in a frame."""
    out = console()
    width = min(out.width, PANEL_WIDTH)
    out.print(Panel(plain(text), title=plain(title), title_align="left", border_style=style, width=width))


def print_line(*parts: tuple[str, str], indent: int = 0) -> None:
    """Print (text, style) pairs as one line. On a terminal it is broken between words, in a pipe never."""
    out = console()
    line = Text.assemble(*(plain(text, style) for text, style in parts))
    for piece in line.wrap(out, max(out.width - indent, 1)) if out.is_terminal else [line]:
        piece.rstrip()
        out.print(Text(" " * indent).append_text(piece), soft_wrap=True)


def plain(text: str, style: str = "") -> Text:
    """Data as rich text: no markup, no escape sequences."""
    return Text(for_terminal(text), style=style)


def when(at: Millis) -> str:
    """A time as people read it, UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def one_line(text: str, limit: int = 100) -> str:
    """The start of a text on one line, no wider than `limit` Latin letters."""
    flat = " ".join(text.split())
    return flat if cell_len(flat) <= limit else set_cell_size(flat, limit - 1).rstrip() + "…"
