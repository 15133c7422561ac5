"""Two promotions and an editor in any order, and a stop anywhere: no mixed tree, and no byte of anybody's is lost."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from governance.team.contracts.promoting import PromotionPlan
from governance.team.errors import Kind, TeamFault
from governance.team.files import render_scene
from recall.team_entry import render
from tests.support.consolidating import a_scene
from tests.support.promoting import Stopped, tree, written
from tests.support.team_entries import an_entry
from tests.support.team_promoting import Promotions, promotions, raw_plan

MEMORY = ".remora-pre/memory"
SHARED, OURS, FRESH = (f"{MEMORY}/entries/{name}.md" for name in ("shared", "ours", "fresh"))
GONE, NEWER = f"{MEMORY}/scenes/gone.md", f"{MEMORY}/skills/release/SKILL.md"
OLD = {
    SHARED: render(an_entry("The shared heron.", 1)),
    OURS: render(an_entry("Our own heron.", 2)),
    GONE: render_scene(a_scene("gone")),
    f"{MEMORY}/scenes/kept.md": render_scene(a_scene("kept")),
    "README.md": b"# Read me\n",
}
SKILL = b"---\nname: release\ndescription: How to release.\n---\n\nRun the suite.\n"
FIRST: dict[str, bytes | None] = {
    SHARED: render(an_entry("The shared heron, said better.", 1)),
    FRESH: render(an_entry("A fresh heron.", 3)),
    GONE: None,
}
OTHER: dict[str, bytes | None] = {OURS: render(an_entry("Our own heron, said better.", 2)), NEWER: SKILL}
SAME: dict[str, bytes | None] = OTHER | {SHARED: render(an_entry("The shared heron, said otherwise.", 1))}
TARGETS = (SHARED, FRESH, GONE, OURS, NEWER)
POINTS = 130  # more than a promotion of three files has

edits = st.tuples(
    st.integers(0, POINTS),
    st.sampled_from(["replace", "write", "delete", "link"]),
    st.sampled_from(TARGETS),
)


@dataclass
class Editor:
    """Somebody who works in the same folder. `last`: what they last made of a path, None: deleted. `gone`: bytes of
    others that they themselves wrote over or deleted."""

    root: Path
    last: dict[str, bytes | str | None] = field(default_factory=dict)
    gone: list[bytes] = field(default_factory=list)
    held: set[str] = field(default_factory=set)  # deleted while a promotion held the old one: before 4d it comes back
    count: int = 0

    def act(self, kind: str, path: str) -> None:
        file = self.root / path
        if os.path.lexists(file):
            if not file.is_symlink():
                self.gone.append(file.read_bytes())
        elif kind == "delete":
            return
        self.count += 1
        if kind == "delete":
            if any(hold.read_bytes() == OLD.get(path) for hold in file.parent.glob(".rpx-*.hold")):
                self.held.add(path)
            file.unlink()
            self.last[path] = None
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        data = f"The editor's words, number {self.count}.\n".encode()
        if kind == "link" or file.is_symlink():
            file.unlink(missing_ok=True)
        if kind == "link":
            file.symlink_to(self.root / "README.md")
            self.last[path] = str(self.root / "README.md")
            return
        if kind == "replace":
            draft = file.with_name(".editor.swp")
            draft.write_bytes(data)
            draft.replace(file)
        else:
            file.write_bytes(data)
        self.last[path] = data


@pytest.mark.promise("team-16", "team-18", "team-19")
@settings(max_examples=100)
@given(
    edited=st.lists(edits, max_size=3),
    stopped=st.none() | st.integers(0, POINTS),
    second=st.integers(0, POINTS),
    overlapping=st.booleans(),
)
async def test_two_promotions_an_editor_and_a_kill_leave_no_mixed_tree_and_lose_no_byte(
    edited: Sequence[tuple[int, str, str]], stopped: int | None, second: int, overlapping: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with promotions(Path(folder)) as shop:
            written(shop.root, OLD)
            changes = [FIRST, SAME if overlapping else OTHER]
            made = [await raw_plan(shop, number, one) for number, one in enumerate(changes, 1)]
            editor = Editor(shop.root)
            interleaved = Interleaving(shop, made[1], editor, list(edited), stopped, second)
            await interleaved.run(made[0])
            for told in interleaved.told:
                event(told)
            await check(shop, made, changes, editor)


@dataclass
class Interleaving:
    """One promotion, with what happens at its points; then what a start does, and the other promotion once more."""

    shop: Promotions
    other: PromotionPlan
    editor: Editor
    edited: list[tuple[int, str, str]]
    stopped: int | None
    second: int
    met: int = 0
    loop: asyncio.AbstractEventLoop | None = None
    told: list[str] = field(default_factory=list)

    async def run(self, plan: PromotionPlan) -> None:
        self.loop = asyncio.get_running_loop()
        try:
            await self.shop.promote(plan, self._fault)
        except Stopped:
            self.told.append("stopped")
        except TeamFault as fault:
            self.told.append(fault.kind)
        await self.shop.resume()
        for one in (self.other, plan):
            try:
                await self.shop.promote(one)
            except TeamFault as fault:
                self.told.append(f"then {fault.kind}")

    def _fault(self, point: str) -> None:
        if point == "disk:read":
            return
        for number, kind, path in self.edited:
            if number == self.met:
                self.told.append(f"{kind} at {point.partition(':')[2]}")
                self.editor.act(kind, path)
        if self.met == self.second and self.loop is not None:
            meanwhile = asyncio.run_coroutine_threadsafe(self.shop.refused(self.other), self.loop).result()
            assert meanwhile.kind is Kind.LOCK_BUSY
        self.met += 1
        if self.met - 1 == self.stopped:
            raise Stopped


async def check(
    shop: Promotions, made: Sequence[PromotionPlan], changes: Sequence[dict[str, bytes | None]], editor: Editor
) -> None:
    now = tree(shop.root)
    states = [(await shop.stored(one)).state for one in made]
    applied = [one for one, state in zip(changes, states, strict=True) if state == "applied"]
    assert set(states) <= {"applied", "voided", "applying"}
    if "applying" in states:
        event("stuck")
    _untouched(now, states, changes, editor)
    kept = [data for data in (*now.values(), *shop.aside().values()) if isinstance(data, bytes)]
    for path, said in editor.last.items():
        here = now.get(path)
        if said is None:
            back = path in editor.held  # and then the other plan may have found it as it was
            written_anew = [one[path] for one in applied if path in one and (back or path not in OLD)]
            assert here is None or here in written_anew or (back and here == OLD[path]), path
        elif "applying" not in states:
            assert here == said, path
        else:
            assert here == said or said in kept, path
    for path, old in OLD.items():
        written_over = any(path in one for one in applied)
        assert old in kept or written_over or old in editor.gone, path
    ours = {data for one in changes for data in one.values() if data} | set(OLD.values())
    if "applying" not in states:
        assert not {path for path, data in now.items() if "/.rpx-" in path and data in ours}


def _untouched(
    now: dict[str, bytes | str], states: Sequence[str], changes: Sequence[dict[str, bytes | None]], editor: Editor
) -> None:
    """Of the files that the editor left alone, a plan's are all new or all old."""
    for place, (state, change) in enumerate(zip(states, changes, strict=True)):
        alone = [path for path in change if path not in editor.last and path not in changes[1 - place]]
        for path in alone:
            if state == "applied":
                assert now.get(path) == change[path], path
            elif state == "voided":
                assert now.get(path) == OLD.get(path), path
