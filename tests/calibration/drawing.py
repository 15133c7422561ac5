"""A curve over sizes of store as SVG: sizes along a logarithmic axis, shares from 0 to 100 %. Standard library only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 240, 24, 48


@dataclass(frozen=True)
class Line:
    """(size, share) points, joined."""

    label: str
    colour: str
    dashed: bool
    points: tuple[tuple[float, float], ...]


def drawn(lines: Sequence[Line]) -> str:
    """The whole picture."""
    sizes = sorted({size for line in lines for size, _ in line.points})
    ends = [line.points[-1][1] for line in lines]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *(_across(share) for share in (0, 0.1, 0.2, 0.4, 0.6, 0.8, 1)),
        *(_upright(size, sizes) for size in sizes),
        f'<text x="{LEFT}" y="{HEIGHT - 8}" fill="#57606a">records in the store</text>',
        *(_line(line, sizes) for line in lines),
        *(_label(line, height) for line, height in zip(lines, _apart([_y(end) for end in ends]), strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _across(share: float) -> str:
    y = _y(share)
    return (
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d0d7de"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#57606a">{share:.0%}</text>'
    )


def _upright(size: float, sizes: Sequence[float]) -> str:
    x = _x(size, sizes)
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#eaeef2"/>'
        f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" fill="#57606a">{size:,.0f}</text>'
    )


def _line(line: Line, sizes: Sequence[float]) -> str:
    points = " ".join(f"{_x(size, sizes):.1f},{_y(share):.1f}" for size, share in line.points)
    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    return f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="2"{dash}/>'


def _label(line: Line, height: float) -> str:
    dash = "- - " if line.dashed else "— "
    return f'<text x="{WIDTH - RIGHT + 8}" y="{height + 4:.1f}" fill="{line.colour}">{dash}{escape(line.label)}</text>'


def _apart(heights: Sequence[float], least: float = 15.0) -> list[float]:
    """Heights of the labels, pushed down where two would overlap."""
    moved: dict[int, float] = {}
    last = -math.inf
    for place in sorted(range(len(heights)), key=lambda one: (heights[one], one)):
        last = moved[place] = max(heights[place], last + least)
    below = max(0.0, last - (HEIGHT - BOTTOM + 8))
    return [moved[place] - below * (moved[place] > HEIGHT / 2) for place in range(len(heights))]


def _x(size: float, sizes: Sequence[float]) -> float:
    low, high = math.log(sizes[0]), math.log(sizes[-1])
    share = (math.log(size) - low) / (high - low) if high > low else 0.5
    return LEFT + 16 + share * (WIDTH - LEFT - RIGHT - 32)


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)
