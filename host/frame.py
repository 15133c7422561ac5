"""The frame of a packet: the lines that open and close it, and how to cut whole packets out of a text. Pure.

The broker writes the frame, the observer cuts it: a packet must never come back as somebody's words. Each packet has
a tag of its own (keyed, so that no memory can know it): content can neither close the frame nor forge another one that
pairs with it (invariant 7).
"""

import re

from host.namespace import name

_ELEMENT = name("memory")
_ESCAPED = "&lt;"  # a product may write angle brackets as HTML does, in what it shows its model and in its transcript
# Transcripts hold packets of an earlier template too, whose tag was an attribute.
_OPEN = re.compile(rf'(?:<|{_ESCAPED}){re.escape(_ELEMENT)} (?:tag=")?([0-9a-f]{{8,64}})"?(?:>|&gt;)')
_CLOSE = re.compile(rf'(?:<|{_ESCAPED})/{re.escape(_ELEMENT)} (?:tag=")?[0-9a-f]{{8,64}}"?(?:>|&gt;)')


def open_line(tag: str) -> str:
    """The line that opens the packet with this tag (8 to 64 lowercase hex digits)."""
    return f"<{_ELEMENT} {tag}>"


def close_line(tag: str) -> str:
    """The line that closes the packet with this tag."""
    return f"</{_ELEMENT} {tag}>"


def tags(text: str) -> tuple[str, ...]:
    """The tags of all packets that open in a text, in order: how a transcript shows what was delivered."""
    return tuple(_OPEN.findall(text))


def cut_packets(text: str) -> str:
    """The text without our packets. One that opens and never closes is cut to the end of the text; a closing line
    without its opening goes alone. Linear in the length of the text."""
    if _ELEMENT not in text:
        return text
    kept: list[str] = []
    place = 0
    while opened := _OPEN.search(text, place):
        kept.append(text[place : opened.start()])
        bracket = _ESCAPED if opened[0].startswith(_ESCAPED) else "<"
        closing = f"{bracket}/{opened[0].removeprefix(bracket)}"  # in the form in which it opened
        closed = text.find(closing, opened.end())
        place = len(text) if closed < 0 else closed + len(closing)
    kept.append(text[place:])
    return _CLOSE.sub("", "".join(kept))
