"""What the files of others hold that can become memories of ours: their bytes -> drafts. Pure, and never raises.

Known are Markdown files split at their headings (`CLAUDE.md`, `AGENTS.md`, notes, Cursor's `.mdc` rules), notes with
front matter, observations as basic-memory keeps them (`- [category] text #tag (context)`), and memory files with
markers. What cannot be taken is named with its line; nothing is guessed at.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath

import msgspec

from recall.contracts import Frozen, MemoryKind, Millis, Origin, RecordState, Scope, ScopeRef, Status
from recall.files import FileRecord, parse
from recall.markers import FileHome

MARKDOWN = (".md", ".markdown", ".mdc")
PLAIN = (".txt", "")  # taken when they are named, not looked for in a folder
LONGEST_TEXT = 32_768  # characters of one memory
LONGEST_TITLE = 200
LONGEST_FRONT = 65_536  # characters in which front matter has to end
MOST_DRAFTS = 10_000  # of one file
MOST_TAGS = 16
LONGEST_TAG = 64

TRANSCRIPT = "A session's transcript. Take it in as history, with --history; or name the notes alone."
REFUSALS = {  # a file that cannot be read as Markdown -> why, and what to do
    "too-large": "Larger than 5 MiB. Split it.",
    "binary": "No text.",
    "not-utf-8": "Not UTF-8. Save it as UTF-8.",
    "conflict-markers": "Git left a conflict in it. Finish the merge.",
    "too-many-records": "More than 10 000 sections. Split it.",
}
# The last part of a title that says no more than where in a note something stands.
OBSERVATIONS = "observations"
NAMES = ("title", "name", "description")  # of a note, in its front matter, the best first
# Names of files that say nothing of what is in them.
NAMELESS = frozenset({"agents", "claude", "claude.local", "gemini", "index", "memory", "readme"})
KINDS = {
    **{str(kind): kind for kind in MemoryKind},
    **dict.fromkeys(("procedure", "how-to", "howto", "runbook"), MemoryKind.PROCEDURAL),
}

_KEY = re.compile(r"([A-Za-z_][\w-]{0,63}):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OBSERVATION = re.compile(r" {0,3}[-*+][ \t]+\[([^\]\[()]{1,64})\][ \t]+(\S.*)$")
_RELATION = re.compile(r" {0,3}[-*+][ \t]+[^\[\]]{0,200}\[\[[^\]\[]{1,200}\]\][ \t]*(?:\([^()]*\))?[ \t]*$")
_CONTEXT = re.compile(r"[ \t](\([^()]*\))$")
_LAST_TAG = re.compile(r"(?:^|[ \t])#([^\s#]{1,64})$")


class Draft(Frozen, frozen=True, kw_only=True):
    """A memory in the making, and the line (1-based) at which its text stands."""

    text: str
    line: int
    title: str | None = None
    tags: tuple[str, ...] = ()
    kind: MemoryKind = MemoryKind.SEMANTIC
    created_at: Millis | None = None


class Problem(Frozen, frozen=True, kw_only=True):
    """Something that could not be taken, and why; line 0: the whole file."""

    line: int
    problem: str


class Taken(Frozen, frozen=True, kw_only=True):
    """What a file gives. `left_out`: links between notes and records that count no more, which are no memories."""

    drafts: tuple[Draft, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: int = 0


class _Note(Frozen, frozen=True, kw_only=True):
    """What a file says of all that is in it."""

    kept: bool  # its front matter is a note keeper's: observations and links are looked for
    title: str | None
    file: str | None  # the name of its file, where that says something
    names: frozenset[str]  # all that its front matter calls it
    tags: tuple[str, ...]
    kind: MemoryKind
    created_at: Millis | None


def read_drafts(data: bytes, name: str) -> Taken:
    """The drafts in a file of that name."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".jsonl" or (suffix == ".json" and data.lstrip()[:1] in (b"{", b"[")):
        return _refused(TRANSCRIPT)
    if suffix not in (*MARKDOWN, *PLAIN):
        return _refused(f"No Markdown: a file that ends with {suffix}.")
    nowhere = ScopeRef(kind=Scope.WORKSPACE, key="import")
    parsed = parse(data, FileHome(path=name, relative=name, scope=nowhere, origin=Origin.IMPORTED))
    if parsed.refused is not None:
        return _refused(REFUSALS.get(parsed.refused, parsed.refused))
    note = _note(_front_matter(data.decode("utf-8-sig")), name)
    drafts: list[Draft] = []
    left_out = 0
    for placed in parsed.records:
        if placed.record.state is RecordState.LEGACY:
            parts, links = _of_section(placed, note)
            drafts += parts
            left_out += links
        elif placed.record.status is Status.ACTIVE:
            drafts.append(_of_record(placed))
        else:
            left_out += 1
        if len(drafts) > MOST_DRAFTS:
            return _refused(REFUSALS["too-many-records"])
    problems = [
        *(Problem(line=found.line, problem=f"{found.state}: {found.problem}") for found in parsed.findings),
        *_too_long(drafts),
    ]
    said = (draft for draft in drafts if draft.text.strip())  # a control character alone is a line to Markdown
    kept = tuple(draft for draft in said if len(draft.text) <= LONGEST_TEXT)
    return Taken(drafts=kept, problems=tuple(sorted(problems, key=lambda one: one.line)), left_out=left_out)


def _too_long(drafts: Iterable[Draft]) -> Iterator[Problem]:
    said = f"Longer than {LONGEST_TEXT} characters. Divide it with headings."
    return (Problem(line=draft.line, problem=said) for draft in drafts if len(draft.text) > LONGEST_TEXT)


def _refused(problem: str) -> Taken:
    return Taken(problems=(Problem(line=0, problem=problem),))


def _of_record(placed: FileRecord) -> Draft:
    """A record that has its marker says itself what it is."""
    record = placed.record
    return Draft(
        text=record.text,
        line=placed.locator.line_start,
        title=record.title,
        tags=record.tags[:MOST_TAGS],
        kind=record.kind,
        created_at=record.created_at or None,
    )


def _of_section(placed: FileRecord, note: _Note) -> tuple[list[Draft], int]:
    """A section as one draft; of a note, each observation as one and the rest as another. And the links left out."""
    path = (placed.record.title or "").split(" > ") if placed.record.title else []
    observing = bool(path) and path[-1].casefold() == OBSERVATIONS
    whole = Draft(
        text=placed.record.text,
        line=placed.locator.line_start,
        title=_title(path[:-1] if observing else path, note),
        tags=note.tags,
        kind=note.kind,
        created_at=note.created_at,
    )
    if not (note.kept or observing):
        return [whole], 0
    rest: list[str] = []
    drafts: list[Draft] = []
    links = 0
    for number, lines in _pieces(whole.text.split("\n")):
        observation = _OBSERVATION.match(lines[0])
        if observation is not None and _is_category(observation[1]):
            drafts.append(_observed(whole, observation[1], [observation[2], *lines[1:]], number))
        elif len(lines) == 1 and _RELATION.match(lines[0]):
            links += 1
        else:
            rest += lines
        if len(drafts) > MOST_DRAFTS:
            break
    if "".join(rest).strip():
        drafts.insert(0, msgspec.structs.replace(whole, text="\n".join(rest).strip("\n")))
    return drafts, links


def _observed(whole: Draft, category: str, lines: Sequence[str], number: int) -> Draft:
    """`- [category] text #tag (context)`: the text with its context; the category and the tags at its end as tags."""
    text = " ".join(line.strip() for line in lines)
    if len(text) > LONGEST_TEXT:
        return msgspec.structs.replace(whole, text=text, line=whole.line + number)
    context = _CONTEXT.search(text)
    if context is not None:
        text = text[: context.start()].rstrip()
    tags: list[str] = []
    while len(tags) < MOST_TAGS and (tag := _LAST_TAG.search(text)) is not None:
        tags.insert(0, tag[1])
        text = text[: tag.start()].rstrip()
    text = " ".join(part for part in (text, context[1] if context else "") if part) or " ".join(tags)
    return msgspec.structs.replace(
        whole,
        text=text,
        line=whole.line + number,
        tags=_tags([category.strip(), *tags, *whole.tags]),
        kind=KINDS.get(category.strip().casefold(), whole.kind),
    )


def _pieces(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """(place, lines): an observation with the indented lines that continue it; a code block; else a line by itself."""
    place = 0
    while place < len(lines):
        end = place + 1
        if (fence := _FENCE.match(lines[place])) is not None:
            while end < len(lines) and not lines[end].strip().startswith(fence[1]):
                end += 1
            end = min(end + 1, len(lines))
        elif _OBSERVATION.match(lines[place]):
            while end < len(lines) and lines[end].strip() and lines[end][0] in " \t":
                end += 1
        yield place, list(lines[place:end])
        place = end


def _is_category(word: str) -> bool:
    """Whether the brackets hold a category: not the box of a task (`[x]`, `[ ]`, `[-]`)."""
    return any(letter.isalpha() for letter in word) and word.casefold() != "x"


def _title(path: Sequence[str], note: _Note) -> str | None:
    """The headings above a section, below what the note is called, each once where the two say the same; without
    either, what its file is called."""
    parts = [part for part in path if part and part not in note.names]
    if note.title is not None and (not parts or parts[0].casefold() != note.title.casefold()):
        parts = [note.title, *parts]
    return " > ".join(parts)[:LONGEST_TITLE] or note.file


# -- what stands at the head of a file


def _note(front: Mapping[str, Sequence[str]], name: str) -> _Note:
    def first(*keys: str) -> str:
        return next((value[0] for key in keys if (value := front.get(key)) and value[0]), "")

    stem = PurePath(name).name.removesuffix(PurePath(name).suffix)
    listed = [word for value in front.get("tags", ()) for word in re.split(r"[,\s]+", value)]
    globs = [glob for value in front.get("globs", ()) for glob in value.split(",")]
    return _Note(
        kept=bool(first("title", "permalink", "type")),
        title=first(*NAMES) or None,
        file=None if stem.casefold() in NAMELESS else stem.replace("_", " ").strip()[:LONGEST_TITLE] or None,
        names=frozenset(name for key in NAMES if (name := first(key))),
        tags=_tags([*listed, *globs]),
        kind=KINDS.get(first("kind", "type").casefold(), MemoryKind.SEMANTIC),
        created_at=_moment(first("created", "date")),
    )


def _tags(words: Sequence[str]) -> tuple[str, ...]:
    """Words as tags: trimmed, each once, no more and no longer than a record should have."""
    trimmed = (word.strip().strip("#")[:LONGEST_TAG] for word in words)
    return tuple(dict.fromkeys(word for word in trimmed if word))[:MOST_TAGS]


def _moment(written: str) -> Millis | None:
    """An ISO 8601 time, UTC unless it says otherwise; None when it is none."""
    try:
        at = datetime.fromisoformat(written)
        return max(0, int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)) or None
    except (ValueError, OverflowError):
        return None


def _front_matter(text: str) -> dict[str, list[str]]:
    """The values of the front matter: `key: value`, `key: [a, b]`, and lists of `- item` lines. What is more than that
    is left alone."""
    lines = text[:LONGEST_FRONT].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return {}
    found: dict[str, list[str]] = {}
    values: list[str] | None = None
    for line in lines[1:]:
        if line.rstrip() in ("---", "..."):
            return found
        if (pair := _KEY.match(line)) is not None:
            values = found.setdefault(pair[1].casefold(), [])
            values += _values(pair[2] or "")
        elif values is not None and (item := _ITEM.match(line)) is not None:
            values.append(_unquoted(item[1]))
    return {}


def _values(written: str) -> list[str]:
    written = written.strip()
    if written.startswith("[") and written.endswith("]"):
        return [_unquoted(part) for part in written[1:-1].split(",")]
    return [_unquoted(written)] if written else []


def _unquoted(written: str) -> str:
    written = written.strip()
    return written[1:-1] if len(written) > 1 and written[0] == written[-1] and written[0] in "\"'" else written
