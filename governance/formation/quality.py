"""Which messages say anything that could be remembered, and what of them (formation.md 6.2). Pure, linear time.

A message is cleaned first, then judged. What reads like an order in disguise is not dropped: whatever cites it is
kept back for a person.
"""

import re
from enum import StrEnum

from governance.formation.quality_words import (
    BLOB,
    BLOCK,
    MEDIA,
    METADATA,
    NOISE,
    OPENING,
    SENTINEL,
    SHORT_ENOUGH,
    SLASHES,
)
from governance.screen import is_instruction_like
from recall.contracts import Frozen

USER, ASSISTANT = "user", "assistant"
LEAST = 2  # letters, digits or characters of a script without spaces

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?=\s|\Z)")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


class Noise(StrEnum):
    """Why a message is left out."""

    BLANK = "blank"
    FRAMEWORK = "framework-noise"
    COMMAND = "command"
    SYMBOLS = "symbols-only"
    SHORT = "too-short"


class Judged(Frozen, frozen=True, kw_only=True):
    """A message as a model may be shown it. `noise`: why it is left out; None: it qualifies. `suspect`: it reads like
    an instruction in disguise."""

    text: str
    noise: Noise | None
    suspect: bool


def judged(text: str, role: str) -> Judged:
    """Clean a message and say whether it qualifies. `role`: user or assistant."""
    clean = cleaned(text, role)
    noise = noise_of(clean)
    return Judged(text=clean, noise=noise, suspect=noise is None and is_instruction_like(clean))


def cleaned(text: str, role: str) -> str:
    """A message without what its author did not write in words: blocks that were put beside it, metadata of a
    framework, media, NUL; of the assistant's also code. At most one blank line in a row."""
    text = _without_blocks(text.replace("\x00", "").replace("\r\n", "\n"))
    for found in (*METADATA, *MEDIA):
        text = found.sub("", text)
    text = BLOB.sub(_blob, text)
    if role == ASSISTANT:
        text = _without_code(text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def noise_of(text: str) -> Noise | None:
    """Why a cleaned message is left out, or None."""
    text = text.strip()
    if not text:
        return Noise.BLANK
    if _by_framework(text):
        return Noise.FRAMEWORK
    if _COMMAND.match(text):
        return Noise.COMMAND
    telling = sum(character.isalnum() for character in text[:4096])
    if not telling and not any(map(str.isalnum, text)):
        return Noise.SYMBOLS
    return Noise.SHORT if telling < LEAST and sum(map(str.isalnum, text)) < LEAST else None


def _blob(run: re.Match[str]) -> str:
    """What is left of a long run of letters: nothing when it is encoded data."""
    said = run[0]
    mixed = any(map(str.isdigit, said)) and any(map(str.isupper, said)) and any(map(str.islower, said))
    return "" if mixed and said.count("/") * SLASHES <= len(said) else said


def _by_framework(text: str) -> bool:
    """Whether a harness says this by itself: a sentinel, a heartbeat, a start-up order, a summary."""
    if len(text) <= OPENING and SENTINEL.fullmatch(text):
        return True
    return len(text) <= SHORT_ENOUGH and any(noise.match(text) for noise in NOISE)


def _without_blocks(text: str) -> str:
    """The text without the blocks of harnesses and of other memories. One that does not close goes to the end."""
    if "<" not in text:
        return text
    pieces: list[str] = []
    place = 0
    while (opened := BLOCK.search(text, place)) is not None:
        pieces.append(text[place : opened.start()])
        closing = f"</{opened[1]}>"
        end = text.find(closing, opened.end())
        if end < 0:
            return "".join(pieces)
        place = end + len(closing)
    return "".join((*pieces, text[place:]))


def _without_code(text: str) -> str:
    """The text without its fenced blocks. One that does not close goes to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if not fence and mark is None:
            kept.append(line)
        elif not fence and mark is not None:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
    return "\n".join(kept)
