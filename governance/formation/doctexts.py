"""What the texts of documents may be: their form, their limits, and what they may not pose as (formation.md 3). Pure.

A document is text that a model wrote, or a person. It is normalised first and counted then, in code points where
nothing else is said. It holds no secret, no front matter of its own, and no marker of a memory record: its file lies in
a memory folder.
"""

import re
from pathlib import PurePosixPath

from governance.formation.contracts import DocumentKind
from governance.formation.errors import AnswerFault
from governance.screen import secrets

SCENE_BODY, SCENE_SUMMARY, NAME = 1_500, 40, 64
PERSONA_BODY, DOCTRINE_BODY = 2_000, 1_200
SKILL_NAME, SKILL_DESCRIPTION, SKILL_BODY = 64, 1_024, 64 * 1024  # the body in bytes
MOST_RESOURCES, RESOURCE_BYTES = 16, 256 * 1024  # of one skill, together
RATIONALE = 1_000
BODY = {
    DocumentKind.SCENE: SCENE_BODY,
    DocumentKind.PERSONA: PERSONA_BODY,
    DocumentKind.DOCTRINE: DOCTRINE_BODY,
}
SKILL_FILE = "SKILL.md"

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_STEP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_DEEPEST = 4
_HEAT = re.compile(r"^[^\w\n]*heat[^\w\n]{0,3}[:=][^\w\n]{0,3}\d", re.IGNORECASE | re.MULTILINE)
_MARKER = re.compile(r"^[^\S\n]*<!--[^\S\n]*(?:memory|scenes)\b", re.IGNORECASE | re.MULTILINE)
_UNREADABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, and halves of one
# Names that some system keeps for a device, whatever follows them.
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})


def even(text: str) -> str:
    """`text` with LF alone. Raises AnswerFault `not-text` for a byte order mark, a bare CR, a control character, or
    what is no character."""
    text = text.replace("\r\n", "\n")
    if text.startswith("\ufeff") or "\r" in text:
        raise AnswerFault("not-text", "The text begins with a byte order mark, or holds a bare carriage return.")
    if found := _UNREADABLE.search(text):
        raise AnswerFault("not-text", f"The text holds U+{ord(found[0]):04X}, which is no character to be read.")
    return text


def normal(text: str) -> str:
    """The text as it is counted and kept: LF, no blanks at the end of a line, none around it. Raises AnswerFault."""
    return "\n".join(row.rstrip() for row in even(text).split("\n")).strip("\n")


def body(text: str, kind: DocumentKind) -> str:
    """The body of a scene, persona or doctrine. Raises AnswerFault: `not-text`, `empty`, `over-limit`, `forged`,
    `secret`."""
    said = normal(text)
    _filled(said, f"the {kind}")
    if len(said) > BODY[kind]:
        raise AnswerFault("over-limit", f"A {kind} has at most {BODY[kind]} characters; this one has {len(said)}.")
    _honest(said)
    return said


def skill_body(text: str) -> str:
    """The body of a skill. Raises AnswerFault as `body` does."""
    said = normal(text)
    _filled(said, "the body of the skill")
    size = len(said.encode())
    if size > SKILL_BODY:
        raise AnswerFault("over-limit", f"The body of a skill has at most {SKILL_BODY} bytes; this one has {size}.")
    _honest(said, heat=False)
    return said


def line(text: str, most: int, what: str) -> str:
    """One line of at most `most` characters. Raises AnswerFault."""
    said = even(text).strip()
    _filled(said, what)
    if "\n" in said or "\t" in said:
        raise AnswerFault("schema", f"{what} is one line.")
    if len(said) > most:
        raise AnswerFault("over-limit", f"{what} has at most {most} characters; this one has {len(said)}.")
    _clean(said)
    return said


def rationale(text: str) -> str:
    """Why something is changed. Raises AnswerFault."""
    return line(" ".join(even(text).split()), RATIONALE, "the rationale")


def skill_name(text: str) -> str:
    """The name of a skill, which is the name of its folder. Raises AnswerFault."""
    if len(text) > SKILL_NAME or not _SLUG.fullmatch(text) or text in _DEVICES:
        problem = f"The name of a skill is at most {SKILL_NAME} letters a-z, digits and single hyphens."
        raise AnswerFault("schema", problem)
    return text


def description(text: str) -> str:
    """What a skill is for. Raises AnswerFault."""
    said = line(text, SKILL_DESCRIPTION, "the description")
    if "<" in said or ">" in said:
        raise AnswerFault("schema", "The description of a skill holds neither `<` nor `>`.")
    return said


def resource_path(text: str) -> str:
    """The path of what lies beside a SKILL.md: relative, below its folder, the same on every system. Raises
    AnswerFault."""
    parts = text.split("/")
    sound = len(parts) <= _DEEPEST and all(
        _STEP.fullmatch(part) and not part.endswith(".") and part.split(".")[0].lower() not in _DEVICES
        for part in parts
    )
    if not sound:
        problem = "The path of a resource is relative: up to four names of letters, digits, `.`, `_` and `-`."
        raise AnswerFault("path", problem)
    if text.lower() == SKILL_FILE.lower():
        raise AnswerFault("path", f"{SKILL_FILE} is the skill itself, and no resource of it.")
    return text


def resource_text(text: str) -> str:
    """The text of a resource; blanks are its own. Raises AnswerFault."""
    said = even(text)
    _clean(said)
    return said


def apart(paths: tuple[str, ...]) -> None:
    """Raises AnswerFault where two of these paths are one file somewhere, or one is a folder that another is in."""
    folded = [path.lower() for path in paths]
    folders = {str(parent) for path in folded for parent in PurePosixPath(path).parents}
    if len(set(folded)) != len(folded) or folders & set(folded):
        raise AnswerFault("path", "Two resources have one name, or one has the name of another's folder.")


def _filled(said: str, what: str) -> None:
    if not said.strip():
        raise AnswerFault("empty", f"There is nothing in {what}.")


def _honest(said: str, *, heat: bool = True) -> None:
    """Not a front matter, a marker, or a heat that a text gives itself; no secret."""
    if said.startswith("---") and not said.startswith("----"):
        raise AnswerFault("forged", "The text begins with a front matter: that is written for it.")
    if _MARKER.search(said):
        raise AnswerFault("forged", "The text holds a marker that only a memory file may hold.")
    if heat and _HEAT.search(said):
        raise AnswerFault("forged", "The text gives itself a heat: that is counted, and not said.")
    _clean(said)


def _clean(said: str) -> None:
    if secrets(said):
        raise AnswerFault("secret", "The text holds a secret, or personal data.")
