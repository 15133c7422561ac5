"""Acceptance of promote (team.md 15, items 15 to 20), and the case that the user's index is the user's."""

import asyncio
import errno
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.migrations import queue_steps
from governance.team.contracts.promoting import PromotionPlan
from governance.team.contracts.rows import CandidateState, Target
from governance.team.errors import Kind, TeamFault
from governance.team.promoting import Promoting
from governance.team.syncing import Syncing
from governance.team.tree import read_tree
from host.database import open_database
from recall.canonical import bytes_digest
from recall.team_entry import Entry, parse
from tests.support.promoting import Stopped, at, stopped_at, tree
from tests.support.team_promoting import FIRST, SECOND, Promotions, promotions
from tests.support.team_review import AGENT

CASES = Path(__file__).parents[1] / "data" / "cases"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Promotions]:
    async with promotions(tmp_path) as made:
        yield made


async def approved(shop: Promotions, content: str = FIRST) -> tuple[Path, Entry]:
    """An approved entry, in its file."""
    plan = await shop.entry_plan(content)
    await shop.promote(plan)
    path = shop.root / plan.per_file[0].target_path
    entry = parse(path.read_bytes())
    assert isinstance(entry, Entry)
    return path, entry


async def updated(shop: Promotions, path: Path, entry: Entry, content: str = SECOND) -> PromotionPlan:
    """A plan with an entry in the place of an approved one: two files."""
    target = Target(source_kind="approved", id=entry.id, revision=bytes_digest(path.read_bytes()))
    return await shop.entry_plan(content, target)


# ---------------------------------------------------------------------------------------------------------- item 15


@pytest.mark.promise("team-15")
async def test_item_15_a_target_that_was_edited_after_prepare_is_refused_and_left(shop: Promotions) -> None:
    path, entry = await approved(shop)
    plan = await updated(shop, path, entry)
    old, seen = path.read_bytes(), path.stat()
    path.write_bytes(old.replace(b"release", b"RELEASE", 1))  # as long as before, and as old
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    before = shop.tree

    assert (await shop.refused(plan)).kind is Kind.TARGET_DRIFT
    assert ((await shop.stored(plan)).state, shop.tree) == ("voided", before)


@pytest.mark.promise("team-15")
@pytest.mark.parametrize("what", ["target", "folder"])
async def test_item_15_a_target_or_folder_that_became_a_link_is_refused(
    shop: Promotions, tmp_path: Path, what: str
) -> None:
    path, entry = await approved(shop)
    plan = await updated(shop, path, entry)
    outside = tmp_path / "outside"
    outside.mkdir()
    moved = path if what == "target" else path.parent
    moved.rename(outside / moved.name)
    moved.symlink_to(outside / moved.name)
    before = tree(outside)

    assert (await shop.refused(plan)).kind is Kind.TARGET_DRIFT
    assert ((await shop.stored(plan)).state, tree(outside)) == ("voided", before)


@pytest.mark.promise("team-15")
async def test_item_15_a_path_that_leads_up_is_invalid(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    up = ".remora-pre/memory/entries/../../../outside.md"
    await shop.desk.execute("UPDATE team_plan_file SET target_path = ?", up)

    assert (await shop.refused(plan)).kind is Kind.TARGET_PATH_INVALID
    assert not (shop.root.parent / "outside.md").exists()


# ---------------------------------------------------------------------------------------------------------- item 16

ROWS = ("2", "3", "3:file", "4", "4a", "4b", "4c", "4d", "4e", "5", "6", "6:file", "6c")
STOPS = [f"promote:{row}{end}" for row in ROWS for end in ("", ":done") if not (row.endswith("file") and end)]


@pytest.mark.promise("team-16")
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("again", ["", "resume", "undo:drop", "promote:5"])
async def test_item_16_stopped_at_any_row_and_in_the_recovery_all_is_old_or_all_is_new(
    shop: Promotions, stop: str, again: str
) -> None:
    """That a killed process leaves the same is proved in the suite `reliability`."""
    path, entry = await approved(shop)
    before = shop.tree
    plan = await updated(shop, path, entry)
    with pytest.raises(Stopped):
        await shop.promote(plan, stopped_at(stop))
    if again:
        try:
            await shop.promoting(stopped_at(again)).resume(shop.desk.now)
        except Stopped:
            pass  # not every recovery comes by there
    await shop.resume()

    new = {file.target_path: file.new for file in await shop.files(plan)}
    state, now = (await shop.stored(plan)).state, shop.tree
    candidate = await shop.state(plan.candidate_ids[0])
    if state == "applied":
        assert (now, candidate) == ({**before, **new}, (CandidateState.PROMOTED, 3))
    else:
        assert (state, now, candidate) == ("approved", before, (CandidateState.STAGED, 2))


# ---------------------------------------------------------------------------------------------------------- item 17


@pytest.mark.promise("team-17")
@pytest.mark.parametrize(
    ("point", "code"),
    [
        ("disk:write", errno.ENOSPC),
        ("disk:fsync", errno.EIO),
        ("disk:fsync-folder", errno.EIO),
        ("disk:create", errno.EROFS),
        ("disk:create", errno.EACCES),
    ],
)
async def test_item_17_a_disk_that_fails_leaves_the_targets_and_the_plan(
    shop: Promotions, point: str, code: int
) -> None:
    path, entry = await approved(shop)
    plan = await updated(shop, path, entry)
    before = shop.tree

    def fail() -> None:
        raise OSError(code, os.strerror(code))

    fault = await shop.refused(plan, at(point, fail))
    assert (fault.kind, (await shop.stored(plan)).state, shop.tree) == (Kind.IO_ERROR, "approved", before)
    assert (await shop.promote(plan)).applied


# ---------------------------------------------------------------------------------------------------------- item 18


@pytest.mark.promise("team-18")
async def test_item_18_what_a_stranger_writes_in_between_survives_and_the_rest_is_back(shop: Promotions) -> None:
    path, entry = await approved(shop)
    plan = await updated(shop, path, entry)
    before, old = shop.tree, path.read_bytes()
    fault = await shop.refused(plan, at("promote:4b:done", lambda: path.write_bytes(b"a stranger's words\n")))

    relative = path.relative_to(shop.root).as_posix()
    assert fault.kind is Kind.TARGET_DRIFT
    assert shop.tree == {**before, relative: b"a stranger's words\n"}
    assert shop.aside() == {f"{plan.plan_id}/{relative}": old}
    assert (await shop.stored(plan)).state == "voided"


@pytest.mark.promise("team-18")
async def test_item_18_an_applied_file_that_was_deleted_by_hand_is_not_made_again(shop: Promotions) -> None:
    path, entry = await approved(shop)
    plan = await updated(shop, path, entry)
    before = shop.tree
    new = next(file.target_path for file in plan.per_file if file.target_blob is None)
    fault = await shop.refused(plan, at("promote:5", lambda: (shop.root / new).unlink()))

    assert (fault.kind, shop.tree) == (Kind.TARGET_DRIFT, before)
    assert await shop.state(plan.candidate_ids[0]) == (CandidateState.STAGED, 3)


# ---------------------------------------------------------------------------------------------------------- item 19


@pytest.mark.promise("team-19")
async def test_item_19_one_plan_promoted_twice_at_once_is_written_once(shop: Promotions) -> None:
    """Over two databases and two locks, as two processes have; the suite `reliability` has two processes."""
    plan = await shop.entry_plan()
    written: list[str] = []

    def noted(point: str) -> None:
        if point == "promote:4c":
            written.append(point)

    async with open_database(shop.folder / "governance.db", queue_steps()) as database:
        other = _over(shop, Syncing(database=database, read=lambda bound: read_tree(bound.root, ".remora-pre/memory")))
        for each in (one := shop.promoting(noted), other):
            each.fault, each.wait_seconds = noted, 30.0
        async with asyncio.timeout(60):
            results = await asyncio.gather(
                *(each.promote(shop.desk.bound, AGENT, plan.plan_id) for each in (one, other))
            )

    assert (len(written), sorted(result.idempotent for result in results)) == (1, [False, True])
    assert await shop.state(plan.candidate_ids[0]) == (CandidateState.PROMOTED, 3)


def _over(shop: Promotions, syncing: Syncing) -> Promoting:
    made = shop.promoting()
    made.database, made.syncing = syncing.database, syncing
    return made


@pytest.mark.promise("team-19")
async def test_item_19_a_plan_that_is_being_promoted_is_busy(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    loop = asyncio.get_running_loop()
    told: list[Kind] = []

    def again() -> None:
        told.append(asyncio.run_coroutine_threadsafe(shop.refused(plan), loop).result().kind)

    assert (await shop.promote(plan, at("promote:4c", again))).applied
    assert told == [Kind.LOCK_BUSY]


@pytest.mark.promise("team-19")
async def test_item_19_two_plans_with_two_entries_are_both_there(shop: Promotions) -> None:
    plans = [await shop.entry_plan(FIRST), await shop.entry_plan(SECOND)]
    async with asyncio.timeout(60):
        await asyncio.gather(
            *(shop.promoting(wait_seconds=30).promote(shop.desk.bound, AGENT, plan.plan_id) for plan in plans)
        )

    found = [parse(path.read_bytes()) for path in sorted(shop.memory.rglob("*.md"))]
    assert {entry.content for entry in found if isinstance(entry, Entry)} == {FIRST, SECOND}


# ---------------------------------------------------------------------------------------------------------- item 20


@pytest.mark.promise("team-20")
async def test_item_20_a_cited_session_that_was_deleted_since_is_drift(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.citations.reasons = {plan.candidate_ids[0]: "its session was deleted"}

    assert (await shop.refused(plan)).kind is Kind.BINDING_DRIFT
    assert ((await shop.stored(plan)).state, shop.tree) == ("voided", {"./": b""})


@pytest.mark.promise("team-20")
async def test_item_20_what_the_screen_finds_by_now_is_not_written(shop: Promotions) -> None:
    """The text passed the screen of its day; the one of today knows it for a secret."""
    plan = await shop.entry_plan()
    (file,) = await shop.files(plan)
    secret = "".join(("AK", "IA", "Z7Q2X5", "M4K8P1", "W9RT"))
    text = (file.new or b"") + f"\nThe key is {secret}\n".encode()
    await shop.desk.execute("UPDATE team_plan_file SET new = ?, sanitized_digest = ?", text, bytes_digest(text))

    fault = await shop.refused(plan)
    assert (fault.kind, shop.tree) == (Kind.SANITIZATION_BLOCKED, {"./": b""})
    assert secret not in fault.problem


# ----------------------------------------------------------------------------------------------------- a field case


@pytest.mark.promise("field-cases", "git-untouched")
async def test_case_promotion_leaves_index_alone(shop: Promotions) -> None:
    case = json.loads((CASES / "promotion-leaves-index-alone.json").read_text(encoding="utf-8"))
    shop.git("init", "--quiet", "--initial-branch=main")
    for name in (*case["given"]["staged"], *case["given"]["unstaged"]):
        (shop.root / name).parent.mkdir(exist_ok=True)
        (shop.root / name).write_text("one\n")
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "--message", "first")
    for name in (*case["given"]["staged"], *case["given"]["unstaged"]):
        (shop.root / name).write_text("two\n")
    shop.git("add", *case["given"]["staged"])
    index, commits = (shop.root / ".git/index").read_bytes(), shop.git("rev-list", "--count", "HEAD")
    git = {path: path.read_bytes() for path in (shop.root / ".git").rglob("*") if path.is_file()}

    result = await shop.promote(await shop.entry_plan())

    assert result.applied
    assert (shop.root / ".git/index").read_bytes() == index
    assert {path: path.read_bytes() for path in (shop.root / ".git").rglob("*") if path.is_file()} == git
    assert shop.git("diff", "--cached", "--name-only").split() == case["then"]["staged_after"]
    assert int(shop.git("rev-list", "--count", "HEAD")) - int(commits) == case["then"]["commits_added"]
    changed = [line[3:] for line in shop.git("status", "--porcelain", "--untracked-files=all").splitlines()]
    ours = [name for name in changed if name.startswith(".remora-pre/")]
    assert ours == [file.target_path for file in result.files]
    assert sorted(set(changed) - set(ours)) == sorted((*case["given"]["staged"], *case["given"]["unstaged"]))


async def test_a_refusal_says_what_and_why_and_what_to_do(shop: Promotions) -> None:
    with pytest.raises(TeamFault) as refused:
        await shop.promoting().promote(shop.desk.bound, AGENT, "plan-none", None)
    assert (refused.value.kind, bool(refused.value.next_step)) == (Kind.PLAN_NOT_FOUND, True)
