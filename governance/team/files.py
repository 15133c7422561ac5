"""Scenes, the doctrine and skills as files of a repository (team.md 11). Pure.

A scene says `created`, `updated`, `summary` and `heat` before its body, and first its `name` where the name of the file
does not. A skill says `name` and `description`. A doctrine is its text alone. All of them are read by the parser of
entries. A scene is told from others by its path: two names of one path are one scene.

Texts are normalised first (LF, no blanks at the end of a line, none around it), and counted then, in code points.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import cast

from governance.formation import doctexts
from governance.formation.docform import slug
from governance.formation.errors import AnswerFault
from governance.team.contracts.base import is_time
from recall.contracts import Frozen
from recall.team_front import EntryFault, Front, read_front, read_text, spelled, write_front

ENTRIES, SCENES, SKILLS, DOCTRINE, INDEX = "entries", "scenes", "skills", "doctrine.md", "index.json"
SKILL_FILE = doctexts.SKILL_FILE
SUMMARY, SCENE_BODY, DOCTRINE_BODY = doctexts.SCENE_SUMMARY, doctexts.SCENE_BODY, doctexts.DOCTRINE_BODY  # code points
SCENE_NAME = 200
MOST_HEAT = 2_147_483_647
MOST_ENTRIES, MOST_SKILLS = 4_096, 256

_SCENE_FIELDS = ("name", "created", "updated", "summary", "heat")
_SKILL_FIELDS = ("name", "description")


class Scene(Frozen, frozen=True, kw_only=True):
    """`created`, `updated`: as times of documents are written. `body`: normalised."""

    name: str
    created: str
    updated: str
    summary: str
    heat: int
    body: str


class Doctrine(Frozen, frozen=True, kw_only=True):
    """`body`: normalised."""

    body: str


class Skill(Frozen, frozen=True, kw_only=True):
    """`name`: of its folder. `body`: normalised."""

    name: str
    description: str
    body: str


def scene_path(name: str) -> str:
    """Where a scene lies below the memory root."""
    return f"{SCENES}/{slug(name, 'scene')}.md"


def skill_path(name: str) -> str:
    """Where a skill lies below the memory root."""
    return f"{SKILLS}/{name}/{SKILL_FILE}"


def named(path: str) -> str:
    """What the name of a scene's or a skill's file says by itself, as it is and as words: no front matter may repeat
    it, and it is shown. Empty for other files: their names are made of their texts."""
    parts = PurePosixPath(path).parts
    if SCENES in parts[-2:-1]:
        name = PurePosixPath(path).stem
    elif SKILLS in parts[-3:-2]:
        name = parts[-2]
    else:
        return ""
    return f"{name}\n{name.replace('-', ' ')}" if "-" in name else name


def normal(text: str) -> str:
    """A text as it is counted and kept. Raises AnswerFault `not-text`: a byte order mark, a bare CR, a control
    character."""
    return doctexts.normal(text)


def checked_scene(scene: Scene) -> EntryFault | None:
    """What is wrong with a scene that is to be written: its name, its line, its length, its heat."""
    if not _line(scene.name, SCENE_NAME):
        return _bad(0, f"The name of a scene is one line of at most {SCENE_NAME} characters.")
    if not _line(scene.summary, SUMMARY):
        return _bad(0, f"The summary is one line of at most {SUMMARY} characters; this one has {len(scene.summary)}.")
    if not 1 <= scene.heat <= MOST_HEAT:
        return _bad(0, f"The heat of a scene is at least 1 and at most {MOST_HEAT}.")
    if not (is_time(scene.created) and is_time(scene.updated)):
        return _bad(0, "The times of a scene are written as 2026-11-12T09:30:00.000Z.")
    return _counted(scene.body, SCENE_BODY, "scene")


def checked_doctrine(doctrine: Doctrine) -> EntryFault | None:
    """What is wrong with a doctrine that is to be written."""
    if doctrine.body.startswith("---\n"):
        return _bad(1, "A doctrine has no front matter.")
    return _counted(doctrine.body, DOCTRINE_BODY, "doctrine")


def checked_skill(skill: Skill) -> EntryFault | None:
    """What is wrong with a skill that is to be written."""
    try:
        doctexts.skill_name(skill.name)
        doctexts.description(skill.description)
        doctexts.skill_body(skill.body)
    except AnswerFault as fault:
        return _bad(0, fault.problem)
    return None


def render_scene(scene: Scene) -> bytes:
    """Raises ValueError, with the problem, when the scene may not be written so."""
    _sound(checked_scene(scene))
    stem = PurePosixPath(scene_path(scene.name)).stem
    named = [] if stem == scene.name else [("name", scene.name)]
    times = [("created", scene.created), ("updated", scene.updated)]
    return _written([*named, *times, ("summary", scene.summary), ("heat", scene.heat)], scene.body)


def render_doctrine(doctrine: Doctrine) -> bytes:
    """Raises ValueError, with the problem, when the doctrine may not be written so."""
    _sound(checked_doctrine(doctrine))
    return f"{doctrine.body}\n".encode()


def render_skill(skill: Skill) -> bytes:
    """Raises ValueError, with the problem, when the skill may not be written so."""
    _sound(checked_skill(skill))
    return _written([("name", skill.name), ("description", skill.description)], skill.body)


def parse_scene(path: str, data: bytes) -> Scene | EntryFault:
    """The scene of a file with that path, or why it is none. Never raises."""
    front = read_front(data, _SCENE_FIELDS, ("name",))
    if isinstance(front, EntryFault):
        return front
    stem = PurePosixPath(path).stem
    name = front.values.get("name", stem)
    for field, kind in (("name", str), ("created", str), ("updated", str), ("summary", str), ("heat", int)):
        value = front.values.get(field, name)
        if not isinstance(value, kind) or isinstance(value, bool):
            return _bad(front.lines[field], f"{field}: {'a number' if kind is int else 'a text'} belongs here.")
    body = _body(front)
    if isinstance(body, EntryFault):
        return body
    scene = Scene(
        name=cast(str, name),
        created=cast(str, front.values["created"]),
        updated=cast(str, front.values["updated"]),
        summary=cast(str, front.values["summary"]),
        heat=cast(int, front.values["heat"]),
        body=body,
    )
    if PurePosixPath(scene_path(scene.name)).stem != stem:
        problem = "The file has another name than its scene: file and `name` go together."
        return EntryFault(code="identity-mismatch", line=front.lines.get("name", 0), problem=problem)
    return checked_scene(scene) or scene


def parse_doctrine(data: bytes) -> Doctrine | EntryFault:
    """The doctrine of a file, or why it is none. Never raises."""
    text = read_text(data)
    if isinstance(text, EntryFault):
        return text
    doctrine = Doctrine(body=normal(text))
    return checked_doctrine(doctrine) or doctrine


def parse_skill(path: str, data: bytes) -> Skill | EntryFault:
    """The skill of a SKILL.md with that path, or why it is none. Never raises."""
    front = read_front(data, _SKILL_FIELDS)
    if isinstance(front, EntryFault):
        return front
    name, description = front.values["name"], front.values["description"]
    if not isinstance(name, str) or not isinstance(description, str):
        return _bad(2, "The name and the description of a skill are texts.")
    if PurePosixPath(path).parent.name != name:
        problem = "The folder has another name than its skill."
        return EntryFault(code="identity-mismatch", line=front.lines["name"], problem=problem)
    body = _body(front)
    if isinstance(body, EntryFault):
        return body
    skill = Skill(name=name, description=description, body=body)
    return checked_skill(skill) or skill


def _written(fields: Sequence[tuple[str, str | int]], body: str) -> bytes:
    front = write_front([(name, spelled(value)) for name, value in fields])
    return f"{front}\n{body}\n".encode()


def _body(front: Front) -> str | EntryFault:
    try:
        return normal(front.body)
    except AnswerFault as fault:
        return _bad(front.line, fault.problem)


def _counted(body: str, most: int, what: str) -> EntryFault | None:
    try:
        said = normal(body)
    except AnswerFault as fault:
        return _bad(0, fault.problem)
    if said != body:
        return _bad(0, f"The text of the {what} is not normalised.")
    if not said.strip():
        return EntryFault(code="no-body", line=0, problem=f"The {what} says nothing.")
    if len(said) > most:
        problem = f"A {what} has at most {most} characters; this one has {len(said)}."
        return EntryFault(code="over-limit", line=0, problem=problem)
    return None


def _line(text: str, most: int) -> bool:
    try:
        said = doctexts.even(text)
    except AnswerFault:
        return False
    return said == said.strip() and 0 < len(said) <= most and "\n" not in said and "\t" not in said


def _bad(line: int, problem: str) -> EntryFault:
    return EntryFault(code="bad-value", line=line, problem=problem)


def _sound(fault: EntryFault | None) -> None:
    if fault is not None:
        raise ValueError(fault.problem)
