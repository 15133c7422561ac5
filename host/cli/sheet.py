"""The sheet on which a memory is edited: its title, tags and kind between two lines of dashes, its text below. Pure."""

import json

import msgspec

from recall.contracts import Frozen, MemoryKind, MemoryRecord

RULE = "---"


class Sheet(Frozen, frozen=True, kw_only=True):
    """What can be edited of a memory."""

    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    kind: MemoryKind = MemoryKind.SEMANTIC


class Unreadable(ValueError):
    """A sheet that cannot be read back; the message says why."""


def of_record(record: MemoryRecord) -> Sheet:
    """The sheet of a memory as it stands."""
    return Sheet(text=record.text, title=record.title or "", tags=record.tags, kind=record.kind)


def write(sheet: Sheet, note: str) -> str:
    """The sheet as a document, with a note on its first lines."""
    return "\n".join(
        [
            RULE,
            *(f"# {line}" for line in note.splitlines()),
            f"title: {sheet.title}",
            f"tags: {_listed(sheet.tags)}",
            f"kind: {sheet.kind}",
            RULE,
            "",
            sheet.text,
            "",
        ]
    )


def read(document: str) -> Sheet:
    """The sheet that a document holds. What its header leaves out is empty, the kind semantic. Raises Unreadable."""
    lines = document.splitlines()
    if not lines or lines[0].rstrip() != RULE:
        raise Unreadable(f"it does not begin with a line {RULE}")
    end = next((place for place, line in enumerate(lines[1:], start=1) if line.rstrip() == RULE), None)
    if end is None:
        raise Unreadable(f"no second line {RULE} ends its header")
    header: dict[str, str] = {}
    for line in lines[1:end]:
        name, colon, value = line.partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        if not colon or name.strip() not in ("title", "tags", "kind") or name.strip() in header:
            raise Unreadable(f"its header has the line {line.strip()[:80]!r}, and takes one title, tags and kind each")
        header[name.strip()] = value.strip()
    kind = header.get("kind", MemoryKind.SEMANTIC)
    if kind not in list(MemoryKind):
        raise Unreadable(f"its kind is {kind[:80]!r}, and may be: {', '.join(MemoryKind)}")
    return Sheet(
        text="\n".join(lines[end + 1 :]).strip("\n"),
        title=" ".join(header.get("title", "").split()),
        tags=_tags(header.get("tags", "")),
        kind=MemoryKind(kind),
    )


def _listed(tags: tuple[str, ...]) -> str:
    """Tags with commas between them; as JSON when one would not read back."""
    plain = ", ".join(tags)
    return plain if _split(plain) == tags and not plain.startswith("[") else json.dumps(tags, ensure_ascii=False)


def _tags(written: str) -> tuple[str, ...]:
    if not written.startswith("["):
        return _split(written)
    try:
        return tuple(msgspec.json.decode(written, type=list[str]))
    except msgspec.DecodeError as error:
        raise Unreadable(f"its tags are no list of texts: {written[:80]!r}") from error


def _split(written: str) -> tuple[str, ...]:
    return tuple(tag.strip() for tag in written.split(",") if tag.strip())
