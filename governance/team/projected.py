"""Skills of a repository as they stand in the folder of an agent product (team.md 10). Pure.

Each has a folder of its own, with a manifest of what we wrote beside it. What is not as the manifest says was edited by
hand, and is nobody's to overwrite.
"""

import re

import msgspec

from governance.team.errors import Kind, TeamFault
from governance.team.files import SKILL_FILE, Skill, render_skill
from governance.team.formats import Formats
from governance.team.sanitising import sanitised, sanitised_line
from recall.canonical import bytes_digest, canonical
from recall.contracts import Frozen

_RUN_BLOCK = re.compile(r"(`{3,}|~{3,})[ \t]*!")


class Manifest(Frozen, frozen=True, kw_only=True):
    """`files`: SHA-256 of each file that was written, by name."""

    format: str
    files: dict[str, str]


class Projected(Frozen, frozen=True, kw_only=True):
    """A skill as it would be written. `folder`: its name in the product's folder of skills."""

    folder: str
    data: bytes
    manifest: bytes


_manifest = msgspec.json.Decoder(Manifest)


def manifest_file(formats: Formats) -> str:
    """The name of the manifest in a skill's folder."""
    return f".{formats.prefix}.json"


def projected(skill: Skill, formats: Formats) -> Projected:
    """Raises ValueError, with the problem, when the skill has no form there: its name is too long with our mark."""
    folder = formats.projected(skill.name)
    data = render_skill(
        Skill(
            name=folder,
            description=sanitised_line(skill.description),
            body=_inert(sanitised(skill.body).strip("\n")),
        )
    )
    manifest = Manifest(format=formats.document("projected-skill"), files={SKILL_FILE: bytes_digest(data)})
    return Projected(folder=folder, data=data, manifest=canonical(manifest) + b"\n")


def _inert(body: str) -> str:
    """The body without what a product runs as a command when it loads the skill, before anybody was asked. It knows
    nothing of Markdown, so quotes and fences keep nothing safe."""
    return _RUN_BLOCK.sub(r"\1sh", body).replace("!`", "! `")


def written_digest(manifest: bytes | None, formats: Formats) -> str | None:
    """The digest of the SKILL.md that we wrote; None: that is not told, or by something else than we write."""
    if manifest is None:
        return None
    try:
        found = _manifest.decode(manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found.files.get(SKILL_FILE) if found.format == formats.document("projected-skill") else None


def check(before: bytes | None, manifest: bytes | None, made: Projected, path: str, formats: Formats) -> None:
    """Raises TeamFault (`assembly-conflict`) when the SKILL.md that stands there is not as we wrote it. One that is
    just what would be written is fine."""
    if before is None or before == made.data or bytes_digest(before) == written_digest(manifest, formats):
        return
    problem = f"{path} was edited by hand, or is not from here."
    raise TeamFault(
        Kind.ASSEMBLY_CONFLICT, problem, "Move what is to be kept into the repository's skill, and delete the folder."
    )
