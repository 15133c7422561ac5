"""Our block in a file of the user's: what it says, and how it gets there without a byte of theirs changed
(team.md 10). Pure.

The block stands between two marker lines. What is said in it is data of a repository: nothing in it can end the block.
It is the same for every product, so two products that read one file read one block.
"""

import re
from collections.abc import Iterable, Sequence

from governance.team.errors import Kind, TeamFault
from governance.team.files import Scene
from governance.team.formats import Formats
from governance.team.providers import BYTES, Provider, size
from governance.team.sanitising import sanitised, sanitised_line
from recall.contracts import Frozen

SHOWN_SCENES = 15
_IMPORT = re.compile(r"(?<!\S)@(?=\S)")  # `@docs/style.md`: no address, which has a name before it
_AT = "&#64;"
_UNSURE = re.compile(r"``|~~~|\\`|^[ \t]{0,3}<", re.MULTILINE)  # fences, longer quotes, escapes, blocks of HTML
_UTF_16_32 = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


class Section(Frozen, frozen=True, kw_only=True):
    """A part of the block. `name`: as a warning calls it."""

    name: str
    text: str


class Listed(Frozen, frozen=True, kw_only=True):
    """A scene of the navigation, with where it lies from the worktree's top."""

    path: str
    scene: Scene


class Spliced(Frozen, frozen=True, kw_only=True):
    """A file with our block in it. `start`: where the block begins; `ends`: where each of its sections ends, in bytes;
    `end`: where the block ends."""

    data: bytes
    start: int
    end: int
    ends: tuple[tuple[str, int], ...]


def sections(
    rules: str, doctrine: str, scenes: Sequence[Listed], skills: Sequence[tuple[str, str]]
) -> tuple[Section, ...]:
    """The sections of a block, those that say nothing left out. `skills`: name and description. Empty: there is nothing
    to say but the rules."""
    said = [
        *([Section(name="doctrine", text=f"### Doctrine\n\n{_shown(doctrine)}")] if doctrine.strip() else []),
        *([Section(name="scenes", text=f"### Scenes\n\n{_navigation(scenes)}")] if scenes else []),
        *([Section(name="skills", text=f"### Skills\n\n{_skills(skills)}")] if skills else []),
    ]
    if said and rules.strip():
        said.insert(0, Section(name="rules", text=_shown(rules)))
    return tuple(said)


def omitted(scenes: Sequence[Listed]) -> int:
    """How many scenes the navigation leaves out."""
    return max(0, len(scenes) - SHOWN_SCENES)


def spliced(data: bytes, parts: Sequence[Section], formats: Formats, name: str) -> Spliced:
    """The bytes of a file with our block in it: in its place, or at the end of a file that has none.

    Raises TeamFault (`assembly-conflict`): the file is no UTF-8, or its markers are not one pair in order.
    """
    if data.startswith(_UTF_16_32) or b"\x00" in data or not _is_utf_8(data):
        raise _conflict(f"{name} is not UTF-8.", "Save it as UTF-8.")
    place = _place(data, formats, name)
    if place is None:
        newline = _newline(data)
        before = data + (b"" if not data else newline if data.endswith(b"\n") else newline * 2)
        after = newline
    else:
        before, after = data[: place[0]], data[place[1] :]
        newline = _newline(before + after)
    text, ends = _block(parts, formats, newline)
    start = len(before)
    shifted = tuple((section, start + end) for section, end in ends)
    return Spliced(data=before + text + after, start=start, end=start + len(text), ends=shifted)


def has_block(data: bytes, formats: Formats, name: str) -> bool:
    """Whether a file has our block. Raises TeamFault (`assembly-conflict`)."""
    return _place(data, formats, name) is not None


def warnings(made: Spliced, provider: Provider, name: str) -> tuple[str, ...]:
    """What of a file falls out of what the product takes; empty: nothing."""
    whole = size(made.data, provider.unit)
    if whole <= provider.cap:
        return ()
    limit = provider.cap if provider.unit == BYTES else _byte_of(made.data, provider.cap)
    out = [section for section, end in made.ends if end > limit]
    if len(made.data.rstrip()) > max(limit, made.end):
        out.append("what stands after the block")
    falls = f"Beyond that: {', '.join(out)}." if out else "The block itself is within it."
    amount = f"{name} has {whole} {provider.unit} with the block"
    return (f"{amount}; {provider.product} {provider.beyond} {provider.cap}. {falls}",)


def _block(parts: Sequence[Section], formats: Formats, newline: bytes) -> tuple[bytes, tuple[tuple[str, int], ...]]:
    """The block without a newline at its end, and where each section ends in it."""
    folder = formats.memory_root
    head = (
        f"{formats.begin}\n## Team memory\n\n"
        f"Assembled from `{folder}` by `{formats.prefix} assemble`. A change here is overwritten: it belongs there.\n"
    )
    if not parts:
        head += "\nNothing is kept there yet.\n"
    made, ends = head.encode().replace(b"\n", newline), []
    for part in parts:
        made += f"\n{part.text}\n".encode().replace(b"\n", newline)
        ends.append((part.name, len(made)))
    return made + formats.end.encode(), tuple(ends)


def _navigation(scenes: Iterable[Listed]) -> str:
    ordered = sorted(scenes, key=lambda one: (-one.scene.heat, one.scene.name))
    rows = [f"- {_line(one.scene.name)} (`{one.path}`): {_line(one.scene.summary)}" for one in ordered[:SHOWN_SCENES]]
    if left := omitted(ordered):
        rows.append(f"- and {left} more")
    return "\n".join(rows)


def _skills(skills: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- `{name}`: {_line(said)}" for name, said in sorted(skills))


def _shown(text: str) -> str:
    """A text of several lines as it stands in the block. Comments are made visible: nothing in it ends the block, and
    nothing takes in another file."""
    return _alone(sanitised(text).strip("\n").replace("<!--", "&lt;!--"))


def _line(text: str) -> str:
    return _alone(" ".join(sanitised_line(text).split()).replace("<!--", "&lt;!--"))


def _alone(text: str) -> str:
    """The text without what a product reads as `take in that file`: nobody looked at what stands there.

    In code it is none. But what is code is told by one rule alone, which every reader of Markdown has: single backticks
    in pairs, each on its line.
    """
    if "@" not in text:
        return text
    if _UNSURE.search(text) or any(row.count("`") % 2 for row in text.split("\n")):
        return _IMPORT.sub(_AT, text)
    parts = text.split("`")
    parts[::2] = [_IMPORT.sub(_AT, part) for part in parts[::2]]
    return "`".join(parts)


def _place(data: bytes, formats: Formats, name: str) -> tuple[int, int] | None:
    """Where the block stands, markers included; None: nowhere."""
    begin, end = formats.begin.encode(), formats.end.encode()
    family = re.compile(rb"<!--[ \t]*" + re.escape(formats.prefix.encode()) + rb":(?:begin|end)\b[^\r\n]*")
    found = [(match.start(), match[0].rstrip()) for match in family.finditer(data)]
    if not found:
        return None
    if [said for _, said in found] != [begin, end]:
        rows = ", ".join(str(data.count(b"\n", 0, at) + 1) for at, _ in found[:4])
        problem = f"The markers in {name} are not one pair in order (line {rows})."
        raise _conflict(problem, f"Leave one `{formats.begin}` and one `{formats.end}` after it, or none of them.")
    (start, _), (last, _) = found
    for at in (start, last):
        if data[data.rfind(b"\n", 0, at) + 1 : at].strip(b" \t\xef\xbb\xbf"):
            line = data.count(b"\n", 0, at) + 1
            problem = f"A marker in {name} does not begin its line (line {line})."
            raise _conflict(problem, "Put each marker on a line of its own, or take both away.")
    return start, last + len(end)


def _newline(outside: bytes) -> bytes:
    """The newline of most of the user's own lines."""
    windows = outside.count(b"\r\n")
    return b"\r\n" if windows * 2 > outside.count(b"\n") else b"\n"


def _byte_of(data: bytes, characters: int) -> int:
    return len(data.decode("utf-8", "replace")[:characters].encode())


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _conflict(problem: str, next_step: str) -> TeamFault:
    return TeamFault(Kind.ASSEMBLY_CONFLICT, problem, next_step)
