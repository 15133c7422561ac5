"""The steps of a procedure as a checklist: from the list that its text holds. Pure."""

import re

from host.render import clip
from host.sanitise import body, one_line

FEWEST = 2  # list items; fewer are no checklist
LEAD_BYTES = 160

_ITEM = re.compile(r"^[ \t]{0,3}(?:[-*+•]|\d{1,3}[.)、]|[（(]\d{1,3}[)）])[ \t]*(?:\[[ xX]?\][ \t]*)?(\S.*)$")
_STEP_WORD = re.compile(
    r"^[ \t]{0,3}(?:step[ \t]+\d{1,3}|第[一二三四五六七八九十\d]{1,3}步)[:：.、,， \t-]{1,4}(\S.*)$", re.IGNORECASE
)
_CONTINUED = re.compile(r"^[ \t]+\S")


def steps(text: str, most: int) -> tuple[str, ...]:
    """The first items of the lists in a text, each on one line; nested ones and the prose between are left out."""
    found: list[str] = []
    open_item = False
    for line in body(text).split("\n"):
        item = _ITEM.match(line) or _STEP_WORD.match(line)
        if item is not None and len(found) == most:
            break
        if item is not None:
            found.append(item[1])
            open_item = True
        elif open_item and _CONTINUED.match(line) and not line.lstrip().startswith(("-", "*", "+")):
            found[-1] = f"{found[-1]} {line.strip()}"
        else:
            open_item = False
    return tuple(one_line(item) for item in found)


def checklist(text: str, most: int, longest: int) -> str:
    """At most `most` numbered steps in at most `longest` characters, after the line that introduces them; whole last
    steps are left out to fit. Empty: the text has no list."""
    items = steps(text, max(most, FEWEST))
    if len(items) < FEWEST:
        return ""
    first = next((line for line in body(text).split("\n") if line.strip()), "")
    lead = [] if _ITEM.match(first) or _STEP_WORD.match(first) else [clip(one_line(first), LEAD_BYTES)]
    lines = [*lead, *(f"{number}. {item}" for number, item in enumerate(items[:most], start=1))]
    while len(lines) > len(lead) + 1 and len("\n".join(lines)) > longest:
        lines.pop()
    return clip("\n".join(lines), longest)
