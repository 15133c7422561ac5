"""Documents as files: where each one lies, its text with front matter, and what a file says that a person changed
(formation.md 3). Pure.

A scene says `name`, `created`, `updated`, `summary` and `heat` before its body, a skill `name` and `description`;
values are JSON, or bare words. What else a person wrote into the front matter stays. A persona and a doctrine are their
text alone, with the list of scenes after it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from governance.formation.contracts import Document, DocumentKind, DocumentMeta
from governance.formation.doctexts import NAME, SKILL_FILE
from governance.formation.errors import AnswerFault
from recall.canonical import digest, short_id
from recall.contracts import Frozen, Millis

SCENES, SKILLS = "scenes", "skills"
ALONE = {DocumentKind.PERSONA: "persona.md", DocumentKind.DOCTRINE: "doctrine.md"}
SHOWN_SCENES = 15
LONGEST_SLUG, SLUG_WORDS = 48, 8
_FENCE = "---\n"
_MOST_FRONT = 65_536
_WORDS = re.compile(r"[A-Za-z0-9]+")
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?$")
_NAVIGATION = "<!-- scenes -->\n"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OURS = {
    DocumentKind.SCENE: ("name", "created", "updated", "summary", "heat"),
    DocumentKind.SKILL: ("name", "description"),
}


class Front(Frozen, frozen=True, kw_only=True):
    """What stands before a body. `rest`: lines that are not ours, as they stand."""

    said: Mapping[str, object]
    rest: tuple[str, ...] = ()
    body: str = ""


def slug(name: str, fallback: str) -> str:
    """A file name of a name: its first words in ASCII. One that loses something by that ends in the name's digest."""
    words = [word.lower() for word in _WORDS.findall(name)]
    kept = ""
    for word in words[:SLUG_WORDS]:
        if len(kept) + len(word) + 1 > LONGEST_SLUG:
            break
        kept = f"{kept}-{word}" if kept else word
    lossless = kept == "-".join(name.lower().split())
    return kept if lossless and kept else f"{kept or fallback}-{digest(name)[:8]}"


def document_id(scope_key: str, kind: DocumentKind, name: str) -> str:
    """The id of a document: of where it is and what it is called, so that a name comes back under its id."""
    return short_id("doc_", {"scopeKey": scope_key, "kind": kind, "name": name})


def document_digest(document: Document) -> str:
    """What a document says: not when, how often, or of what it was made."""
    said = [document.kind, document.name, document.meta.summary, document.content]
    return digest(said)


def file_of(document: Document) -> str:
    """Where a document lies below the memory folder of its workspace."""
    match document.kind:
        case DocumentKind.SCENE:
            return f"{SCENES}/{slug(document.name, 'scene')}.md"
        case DocumentKind.SKILL:
            return f"{SKILLS}/{document.name}/{SKILL_FILE}"
        case DocumentKind.RESOURCE:
            return f"{SKILLS}/{document.name}"
        case _:
            return ALONE[document.kind]


def kind_of(relative: str) -> DocumentKind | None:
    """What lies at a path below a memory folder; None: no document."""
    parts = relative.split("/")
    if parts[0] == SCENES and len(parts) == 2 and relative.endswith(".md"):
        return DocumentKind.SCENE
    if parts[0] == SKILLS and len(parts) > 2:
        return DocumentKind.SKILL if parts[2:] == [SKILL_FILE] else DocumentKind.RESOURCE
    return next((kind for kind, name in ALONE.items() if name == relative), None)


def written(document: Document, before: str = "") -> str:
    """The text of a document's file. `before`: what the file says now; of its front matter what is not ours stays.

    Raises AnswerFault `not-text` when that front matter has no end.
    """
    meta = document.meta
    match document.kind:
        case DocumentKind.SCENE:
            front = {
                "name": document.name,
                "created": moment(meta.created),
                "updated": moment(meta.updated),
                "summary": meta.summary,
                "heat": meta.heat,
            }
        case DocumentKind.SKILL:
            front = {"name": document.name, "description": meta.summary}
        case DocumentKind.RESOURCE:
            return document.content
        case _:
            return f"{document.content}\n"
    rest = read_front(_even(before), document.kind).rest
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    return f"{_FENCE}{chr(10).join([*lines, *rest])}\n{_FENCE}\n{document.content}\n"


def read_document(text: str, was: Document) -> Document:
    """A document as its file says it now. `was`: as it was known, or what its place alone says of it.

    Raises AnswerFault `not-text` when its front matter cannot be read.
    """
    even = _even(text)
    if was.kind is DocumentKind.RESOURCE:
        return _with(was, even, was.meta, was.name)
    if was.kind not in _OURS:
        return _with(was, even.strip("\n"), was.meta, was.name)
    front = read_front(even, was.kind)
    summary = front.said.get("summary" if was.kind is DocumentKind.SCENE else "description", was.meta.summary)
    name = front.said.get("name", was.name) if was.kind is DocumentKind.SCENE else was.name
    meta = DocumentMeta(
        created=was.meta.created or _millis(front.said.get("created")),
        updated=was.meta.updated or _millis(front.said.get("updated")),
        summary=" ".join(str(summary).split()),
        heat=was.meta.heat or _heat(front.said.get("heat"), was.kind),
    )
    called = " ".join(str(name).split())[:NAME]
    return _with(was, front.body.strip("\n"), meta, called or was.name)


def read_front(text: str, kind: DocumentKind) -> Front:
    """The front matter of a text, and the body after it. Raises AnswerFault `not-text` when it does not end."""
    if not text.startswith(_FENCE):
        return Front(said={}, body=text)
    end = text.find("\n---", len(_FENCE) - 1, _MOST_FRONT)
    if end < 0 or text[end + 4 : end + 5] not in ("", "\n"):
        raise AnswerFault("not-text", "The front matter has no line `---` at its end.")
    said: dict[str, object] = {}
    rest: list[str] = []
    open_key = ""  # of ours: a value may go on in lines that are indented
    for row in text[len(_FENCE) : end].split("\n"):
        found = _KEY.match(row)
        if found and found[1] in _OURS.get(kind, ()):
            open_key, said[found[1]] = found[1], _value(found[2] or "")
        elif open_key and row[:1] in (" ", "\t"):
            said[open_key] = f"{said[open_key]} {row.strip()}".strip(" >|-")
        elif row.strip():
            open_key = ""
            rest.append(row)
    return Front(said=said, rest=tuple(rest), body=text[end + 5 :])


def navigation(scenes: Iterable[Document]) -> str:
    """The list of scenes that follows a persona or doctrine: the hottest first, then by name; empty without scenes."""
    ordered = sorted(scenes, key=lambda scene: (-scene.meta.heat, scene.name))
    if not ordered:
        return ""
    lines = [f"- {scene.name}: {scene.meta.summary}" for scene in ordered[:SHOWN_SCENES]]
    if len(ordered) > SHOWN_SCENES:
        lines.append(f"- and {len(ordered) - SHOWN_SCENES} more")
    return f"{_NAVIGATION}{chr(10).join(lines)}"


def with_navigation(said: str, scenes: Iterable[Document]) -> str:
    """A persona or doctrine with the list of scenes after it."""
    return "\n\n".join(part for part in (said, navigation(scenes)) if part)


def without_navigation(content: str) -> str:
    """What was written of a persona or doctrine, without the list that was put after it."""
    return content.partition(_NAVIGATION)[0].strip("\n")


def renavigated(said: str, content: str) -> str:
    """Other words for a persona or doctrine, with the list that stands after its content."""
    _, mark, listed = content.partition(_NAVIGATION)
    return f"{said}\n\n{mark}{listed}" if mark else said


def moment(at: Millis) -> str:
    """A time as people read it: ISO 8601 in UTC, with milliseconds."""
    return (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _even(text: str) -> str:
    """A file's words as they are compared, whatever editor wrote them."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _millis(said: object) -> Millis:
    try:
        at = datetime.fromisoformat(str(said))
    except ValueError:
        return 0
    return max(0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1))


def _heat(said: object, kind: DocumentKind) -> int:
    """A scene that we did not write begins with the heat that it says, or 1."""
    if kind is not DocumentKind.SCENE:
        return 0
    return said if isinstance(said, int) and not isinstance(said, bool) and 1 <= said <= 2**31 - 1 else 1


def _value(text: str) -> object:
    """JSON, or the words as they are."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip().strip("'")


def _with(was: Document, content: str, meta: DocumentMeta, name: str) -> Document:
    return Document(
        id=was.id,
        kind=was.kind,
        name=name,
        version=was.version,
        content=content,
        meta=meta,
        evidence=was.evidence,
        writable=was.writable,
        resources=was.resources,
    )
