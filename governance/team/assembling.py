"""`assemble`: doctrine, scenes and skills where an agent product reads them (team.md 10).

Everything is looked at before anything is written: whatever is not as we left it, and nothing is written at all. Each
file is put in place whole, and only where the old one is still the one that was looked at. Nothing is ever deleted. A
repository's text goes there only when its user trusts the repository, or said yes to that very file.
"""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from governance.team import blocks, placing, projected
from governance.team.blocks import Listed
from governance.team.contracts.base import Bound
from governance.team.contracts.results import Assembly, ProjectedSkill, ProviderAssembly
from governance.team.errors import Kind, TeamFault
from governance.team.files import SKILL_FILE, named
from governance.team.formats import Formats
from governance.team.placing import Gathering, Write
from governance.team.projected import Projected
from governance.team.providers import PROVIDERS, Provider, provider
from governance.team.sanitising import blocked
from governance.team.store import bindings, trust
from governance.team.trees import DoctrineFile, SceneFile, SkillFile, Tree
from recall.contracts import Database

_KEY = "assemble"


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembling:
    """`rules`: how memory is to be read, for the head of the block. `read`: the files of a worktree's memory; called on
    a thread. `disk`: the files below a worktree's top. Of a worktree one assembly at a time is written."""

    database: Database
    formats: Formats
    read: Callable[[Bound], Tree]
    rules: str = ""
    disk: Callable[[str], Gathering] = Gathering
    _turns: dict[str, threading.Lock] = field(default_factory=dict)

    async def assemble(self, bound: Bound, provider_name: str, dry_run: bool = False) -> Assembly:
        """Write the block and the skills of a product, or with `dry_run` say what would be written.

        Raises TeamFault: `request-invalid`, `sync-partial`, `assembly-conflict`, `target-path-invalid`, `io-error`.
        """
        row = provider(provider_name)
        tree = await asyncio.to_thread(self.read, bound)
        if not tree.complete:
            problem = f"The repository's memory could not be read whole: {tree.problem}"
            raise TeamFault(Kind.SYNC_PARTIAL, problem, "See what `lint` says, then assemble again.")
        vouched = await self.database.read(lambda connection: _vouched(connection, bound, tree))
        return await asyncio.to_thread(self._in_turn, bound, row, _chosen(tree, vouched), dry_run)

    async def tidy(self) -> None:
        """At the start: what a kill left under hidden names, beside the files of products, goes. A worktree that cannot
        be reached is passed over. Raises what the database raises."""
        for bound in await self.database.read(bindings.all_bound):
            await asyncio.to_thread(self._tidied, bound)

    def _tidied(self, bound: Bound) -> None:
        with self._turn(bound):
            disk = self.disk(bound.root)
            for path in _written_paths(bound.root, self.formats):
                with suppress(OSError, TeamFault):
                    placing.drop_left(disk, placing.place(disk, path, self.formats).path, _KEY)
            with suppress(OSError):
                disk.settle()

    def _turn(self, bound: Bound) -> threading.Lock:
        return self._turns.setdefault(bound.root, threading.Lock())

    def _in_turn(self, bound: Bound, row: Provider, chosen: "_Chosen", dry_run: bool) -> Assembly:
        with self._turn(bound):
            return self._assembled(bound, row, chosen, dry_run)

    def _assembled(self, bound: Bound, row: Provider, chosen: "_Chosen", dry_run: bool) -> Assembly:
        disk = self.disk(bound.root)
        work = _Work(disk, row, self.formats)
        skills = tuple(work.skills(chosen.skills))
        names = [(one.folder, skill.skill.description) for one, skill in work.made]
        listed = [Listed(path=one.path, scene=one.scene) for one in chosen.scenes]
        said = "" if chosen.doctrine is None else chosen.doctrine.doctrine.body
        file = work.block(blocks.sections(self.rules, said, listed, names), (*chosen.left_out, *work.warnings))
        changes = [write for write in work.writes if write.changes]
        if not dry_run:
            _written(disk, changes)
        return Assembly(
            format=self.formats.document("assembly"),
            provider=row.name,
            dry_run=dry_run,
            files=(file,),
            skills=skills,
            omitted_scenes=blocks.omitted(listed),
            diff="".join(map(placing.diff, changes)) if dry_run else "",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chosen:
    """What of a tree is told to the product, and why something is not."""

    doctrine: DoctrineFile | None
    scenes: tuple[SceneFile, ...]
    skills: tuple[SkillFile, ...]
    left_out: tuple[str, ...]


@dataclass(kw_only=True, slots=True)
class _Judge:
    vouched: frozenset[str]
    untrusted: list[str] = field(default_factory=list)
    unfit: list[str] = field(default_factory=list)

    def admits(self, one: DoctrineFile | SceneFile | SkillFile) -> bool:
        """Whether a file may speak in a product's own file."""
        if one.path not in self.vouched:
            self.untrusted.append(one.path)
        elif blocked(f"{named(one.path)}\n{one.data.decode('utf-8', 'replace')}"):
            self.unfit.append(one.path)
        else:
            return True
        return False

    def left_out(self, unread: int) -> Iterator[str]:
        if self.untrusted:
            why = "nobody here trusts this repository's memory yet"
            yield f"Left out, because {why}: {_some(self.untrusted)}. `init --trust-memory` changes that."
        if self.unfit:
            yield f"Left out, because the screen holds it back: {_some(self.unfit)}. `lint` says why."
        if unread:
            yield f"{unread} files of the memory are not as they must be, and left out: `lint` names them."


class _Work:
    """An assembly in the making: what is to be written, once all of it was looked at."""

    def __init__(self, disk: Gathering, row: Provider, formats: Formats) -> None:
        self._disk = disk
        self._row = row
        self._formats = formats
        self.writes: list[Write] = []
        self.made: list[tuple[Projected, SkillFile]] = []
        self.warnings: list[str] = []

    def skills(self, skills: Sequence[SkillFile]) -> Iterator[ProjectedSkill]:
        """The skills in the product's folder. Raises TeamFault (`assembly-conflict`) for one that was edited there."""
        for skill in sorted(skills, key=lambda one: one.skill.name):
            try:
                made = projected.projected(skill.skill, self._formats)
            except ValueError as error:
                self.warnings.append(f"The skill {skill.skill.name} is left out: {error}")
                continue
            yield self._skill(made, skill)

    def _skill(self, made: Projected, skill: SkillFile) -> ProjectedSkill:
        folder = f"{self._row.skills}/{made.folder}"
        file = placing.place(self._disk, f"{folder}/{SKILL_FILE}", self._formats)
        beside = placing.place(self._disk, f"{folder}/{projected.manifest_file(self._formats)}", self._formats)
        before = None if file.before is None else file.before.data
        manifest = None if beside.before is None else beside.before.data
        projected.check(before, manifest, made, file.path, self._formats)
        writes = (Write(place=file, data=made.data), Write(place=beside, data=made.manifest))
        self.writes += writes
        self.made.append((made, skill))
        return ProjectedSkill(name=made.folder, path=folder, changed=any(write.changes for write in writes))

    def block(self, sections: Sequence[blocks.Section], warnings: Sequence[str]) -> ProviderAssembly:
        """The product's file with our block. Where there is nothing to say, a file without one stays without.

        Raises TeamFault (`assembly-conflict`)."""
        name = self._row.file
        place = placing.place(self._disk, name, self._formats)
        if not sections and not blocks.has_block(place.data, self._formats, name):
            return ProviderAssembly(
                target_path=place.path, changed=False, bytes=len(place.data), warnings=tuple(warnings)
            )
        made = blocks.spliced(place.data, sections, self._formats, name)
        write = Write(place=place, data=made.data)
        self.writes.append(write)
        told = (*blocks.warnings(made, self._row, name), *self._twice(place.path, made.data), *warnings)
        return ProviderAssembly(
            target_path=place.path, changed=write.changes, bytes=len(made.data), warnings=tuple(told)
        )

    def _twice(self, path: str, data: bytes) -> Iterator[str]:
        """Whether the file takes in another one that has the block, too."""
        rows = {row.strip() for row in data.splitlines()}
        for other in PROVIDERS:
            if other is self._row or f"@{other.file}".encode() not in rows:
                continue
            place = placing.place(self._disk, other.file, self._formats)
            if place.path != path and blocks.has_block(place.data, self._formats, other.file):
                yield f"{self._row.file} takes in {other.file}, which has the block, too: it is read twice."


def _written_paths(root: str, formats: Formats) -> Iterator[str]:
    """Every path that an assembly may have been writing there."""
    for row in PROVIDERS:
        yield row.file
        with suppress(OSError):
            for name in sorted(os.listdir(f"{root}/{row.skills}")):
                if name.endswith(f"-{formats.mark}"):
                    yield f"{row.skills}/{name}/{SKILL_FILE}"
                    yield f"{row.skills}/{name}/{projected.manifest_file(formats)}"


def _vouched(connection: sqlite3.Connection, bound: Bound, tree: Tree) -> frozenset[str]:
    """The paths of the files that the user trusts."""
    doctrine = () if tree.doctrine is None else (tree.doctrine,)
    files = (*doctrine, *tree.scenes, *tree.skills)
    key = bound.owner.repository_key
    said = trust.trust_of(connection, key)
    whole = said is not None and said.trusted
    return frozenset(one.path for one in files if whole or trust.has_receipt(connection, key, one.digest, one.path))


def _chosen(tree: Tree, vouched: frozenset[str]) -> _Chosen:
    judge = _Judge(vouched=vouched)
    return _Chosen(
        doctrine=tree.doctrine if tree.doctrine is not None and judge.admits(tree.doctrine) else None,
        scenes=tuple(filter(judge.admits, tree.scenes)),
        skills=tuple(filter(judge.admits, tree.skills)),
        left_out=tuple(judge.left_out(len(tree.faults))),
    )


def _written(disk: Gathering, writes: Sequence[Write]) -> None:
    """Raises TeamFault: `assembly-conflict`, `io-error`."""
    try:
        placing.put(disk, writes, _KEY)
    except OSError as error:
        problem = f"The files of the product cannot be written: {error.strerror or error}."
        raise TeamFault(Kind.IO_ERROR, problem, "What was written before is whole. Assemble again.") from error


def _some(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:3])
    return f"{shown} and {len(paths) - 3} more" if len(paths) > 3 else shown
