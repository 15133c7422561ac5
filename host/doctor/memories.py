"""Memory files as they lie on the disk, read as the daemon would read them; none is needed for it."""

import os
from collections.abc import Iterator
from pathlib import Path

from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.namespace import REPOSITORY_FOLDER, SCRIPT
from host.runtime import USER_KEY
from recall.contracts import Origin, Scope, ScopeRef
from recall.documents import Document, read, scan
from recall.files import parse
from recall.lint import Spot, of_index_file
from recall.markers import FileHome
from recall.providers import MEMORY_INDEX, slug
from recall.workspace import common_directory, workspace_key

MOST_FILES = 2_000  # that are looked at


def conflicts(scene: Scene) -> Iterator[Finding]:
    """Files that git left a conflict in: nothing of them is used."""
    for folder in _folders(scene):
        found = scan(os.path.realpath(folder), MOST_FILES)
        for relative in sorted(found.files if found else ()):
            if _conflicted(os.path.realpath(folder), relative):
                yield finding(
                    "memory-conflict",
                    f"Git left a conflict in the memory file {folder / relative}.",
                    "Nothing of the file is used, and nothing is written into it.",
                    "Finish the merge: keep the records that hold, and remove the lines <<<<<<<, ======= and >>>>>>>.",
                    folder / relative,
                )


def _conflicted(base: str, relative: str) -> bool:
    document = read(base, relative)
    if not isinstance(document, Document) or b"<<<<<<<" not in document.data:
        return False
    scope = ScopeRef(kind=Scope.USER, key=USER_KEY)
    home = FileHome(path=f"{base}/{relative}", relative=relative, scope=scope, origin=Origin.USER)
    return parse(document.data, home).refused == "conflict-markers"


def _folders(scene: Scene) -> list[Path]:
    """The user's memory, the workspace's own, and what the repository shares."""
    own = scene.paths.data / "memory"
    key = workspace_key(str(scene.repository))
    return [own / "user", own / key, scene.repository / REPOSITORY_FOLDER / "memory"]


def unused(scene: Scene) -> Iterator[Finding]:
    """What the daemon passes over in memory files, and folders that are gone."""
    memory = scene.said.memory if scene.said is not None else None
    if memory is None:
        return
    if memory.problem_count:
        places = "1 place" if memory.problem_count == 1 else f"{memory.problem_count} places"
        yield finding(
            "memory-unused",
            f"{places} in memory files cannot be used.",
            "What stands there is not found by anybody.",
            f"{SCRIPT} lint says where, and what to do.",
        )
    for folder in memory.missing:
        yield finding(
            "memory-folder-missing",
            f"The memory folder {folder} is not there.",
            "What is known of it is kept until it is back, and may be out of date.",
            f"Bring it back. If it is gone for good: {SCRIPT} reindex",
            folder,
        )


def untrusted(scene: Scene) -> Iterator[Finding]:
    """Repositories whose memory nobody was asked about."""
    for one in scene.said.memory.unasked if scene.said is not None else ():
        records = "1 record" if one.records == 1 else f"{one.records} records"
        yield finding(
            "memory-untrusted",
            f"The repository {one.repository} brings {records}, and you were not asked whether you trust them.",
            "Until then they are shown as hints at most: whoever can write to the repository may have written them.",
            f"In that folder, {SCRIPT} init asks.",
            one.repository,
        )


def caps(scene: Scene) -> Iterator[Finding]:
    """Claude Code's own index of its memory, of which it loads only the beginning."""
    if scene.homes is None:
        return
    common = common_directory(str(scene.repository))
    tops = [scene.repository, *([common.parent] if common is not None and common.name == ".git" else [])]
    for folder in dict.fromkeys(scene.homes.claude / "projects" / slug(str(top)) / "memory" for top in tops):
        document = read(os.path.realpath(folder), MEMORY_INDEX)
        if isinstance(document, Document):
            for flaw in of_index_file(Spot(file=str(folder / MEMORY_INDEX)), document.data):
                yield finding(
                    "memory-over-cap",
                    f"{folder / MEMORY_INDEX} is longer than Claude Code reads. {flaw.problem}",
                    "What stands behind that is in no session's context.",
                    flaw.next,
                    folder / MEMORY_INDEX,
                )
