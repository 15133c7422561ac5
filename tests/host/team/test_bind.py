"""Real repositories, made by git, as they are bound."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from governance.migrations import queue_steps
from governance.team.errors import Kind, TeamFault
from governance.team.store import bindings, trust
from governance.team.store.trust import Trusted
from host.database import open_database
from host.team.bind import Binding, checked_way, located
from tests.support.clock import FakeClock
from tests.support.fakes import FakeDatabase
from tests.support.team_recall import FORMATS, INSTALLATION


def git(folder: Path, *words: str) -> None:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
    who = ["-c", "user.name=Kim", "-c", "user.email=kim@code.example"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, env=quiet)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", "a.txt")
    git(folder, "commit", "-qm", "a")
    return folder


def a_binding(database: FakeDatabase | None = None) -> Binding:
    clock = FakeClock()
    return Binding(database or FakeDatabase(queue_steps()), FORMATS, lambda: INSTALLATION, clock.now)


def fault(act: Callable[[], object]) -> Kind:
    with pytest.raises(TeamFault) as found:
        act()
    assert found.value.next_step
    return found.value.kind


async def test_a_folder_below_the_top_binds_the_worktree(top: Path) -> None:
    below = top / "src" / "deep"
    below.mkdir(parents=True)
    binding = a_binding()
    bound = await binding.bind(str(below))
    assert bound.root == os.path.realpath(top)
    assert bound == await binding.bind(str(top))
    assert bound.binding.public_repository_identity is None
    await binding.verify(bound)


async def test_a_linked_worktree_shares_the_repository(top: Path, tmp_path: Path) -> None:
    git(top, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    binding = a_binding()
    one, two = await binding.bind(str(top)), await binding.bind(str(tmp_path / "tree"))
    assert one.owner.repository_key == two.owner.repository_key
    assert one.owner.worktree_key != two.owner.worktree_key
    assert one.workspace_key == two.workspace_key
    assert one.binding.common_directory_identity == two.binding.common_directory_identity


async def test_a_link_to_the_repository_binds_what_it_leads_to(top: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(top)
    binding = a_binding()
    assert await binding.bind(str(tmp_path / "link")) == await binding.bind(str(top))


async def test_the_remote_is_told_without_its_password(top: Path) -> None:
    git(top, "remote", "add", "second", "https://code.example/other/one")
    git(top, "remote", "add", "origin", "https://kim:s3cret@code.example/org/project.git")
    bound = await a_binding().bind(str(top))
    assert bound.binding.public_repository_identity == "code.example/org/project"
    git(top, "remote", "remove", "origin")
    assert located(str(top)).remote == "https://code.example/other/one"


def test_a_configuration_is_read_as_data_and_its_includes_are_not(top: Path, tmp_path: Path) -> None:
    (tmp_path / "more").write_text('[remote "origin"]\n\turl = https://code.example/evil/x\n')
    with (top / ".git" / "config").open("a") as config:
        config.write(f"[include]\n\tpath = {tmp_path / 'more'}\n")
    assert located(str(top)).remote is None


@pytest.mark.parametrize("text", ["[core", "\0\0\0", "[remote]\n\turl = x\n", "x" * 100_000])
def test_a_configuration_that_cannot_be_read_keeps_nobody_out(top: Path, text: str) -> None:
    (top / ".git" / "config").write_text(text)
    assert located(str(top)).remote is None


def test_outside_of_git_and_in_a_bare_repository_there_is_nothing_to_bind(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    git(tmp_path, "init", "-q", "--bare", "hidden/.git")
    (tmp_path / "plain").mkdir()
    for folder in ("plain", "bare.git", "bare.git/refs", "hidden", "gone"):
        assert fault(lambda folder=folder: located(str(tmp_path / folder))) is Kind.NOT_A_REPOSITORY  # type: ignore[misc]
    assert fault(lambda: located("")) is Kind.NOT_A_REPOSITORY
    assert fault(lambda: located("relative/folder")) is Kind.NOT_A_REPOSITORY


def test_a_worktree_of_a_bare_repository_is_one(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(top), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    found = located(str(tmp_path / "tree"))
    assert found.root == os.path.realpath(tmp_path / "tree")
    assert found.common == os.path.realpath(tmp_path / "bare.git")


def test_a_pointer_into_a_repository_that_does_not_know_it_binds_nothing(top: Path, tmp_path: Path) -> None:
    stranger = tmp_path / "unpacked"
    stranger.mkdir()
    (stranger / ".git").write_text(f"gitdir: {top / '.git'}\n")
    assert fault(lambda: located(str(stranger))) is Kind.NOT_A_REPOSITORY


@pytest.mark.parametrize("part", [".remora-pre", ".remora-pre/memory"])
@pytest.mark.parametrize("kind", ["link", "dangling", "file"])
async def test_a_link_or_a_file_on_the_way_to_the_memory_is_refused(
    top: Path, tmp_path: Path, part: str, kind: str
) -> None:
    place = top / part
    place.parent.mkdir(exist_ok=True)
    if kind == "file":
        place.write_text("x")
    else:
        place.symlink_to(tmp_path if kind == "link" else tmp_path / "gone")
    with pytest.raises(TeamFault) as found:
        await a_binding().bind(str(top))
    assert found.value.kind is Kind.TARGET_PATH_INVALID
    assert "memory" in found.value.problem or ".remora-pre" in found.value.problem


def test_a_way_that_is_there_or_not_there_yet_is_fine(top: Path) -> None:
    checked_way(str(top), ".remora-pre/memory")
    (top / ".remora-pre" / "memory").mkdir(parents=True)
    checked_way(str(top), ".remora-pre/memory")


async def test_another_folder_in_the_place_of_the_top_is_another_owner(top: Path, tmp_path: Path) -> None:
    binding = a_binding()
    bound = await binding.bind(str(top))
    top.rename(tmp_path / "moved")
    top.symlink_to(tmp_path / "moved")
    with pytest.raises(TeamFault) as found:
        await binding.verify(bound)
    assert found.value.kind is Kind.OWNER_MISMATCH


async def test_a_repository_that_was_made_anew_in_its_place_is_another_owner(top: Path) -> None:
    binding = a_binding()
    bound = await binding.bind(str(top))
    (top / ".git").rename(top / "old.git")
    git(top, "init", "-q", "-b", "main")
    with pytest.raises(TeamFault) as found:
        await binding.verify(bound)
    assert found.value.kind is Kind.OWNER_MISMATCH
    again = await binding.bind(str(top))
    assert again.owner == bound.owner
    await binding.verify(again)


async def test_a_repository_that_is_gone_is_none(top: Path, tmp_path: Path) -> None:
    binding = a_binding()
    bound = await binding.bind(str(top))
    top.rename(tmp_path / "moved")
    with pytest.raises(TeamFault) as found:
        await binding.verify(bound)
    assert found.value.kind is Kind.NOT_A_REPOSITORY


async def test_a_moved_repository_gets_a_binding_of_its_own_and_the_old_one_stays(top: Path, tmp_path: Path) -> None:
    database = FakeDatabase(queue_steps())
    binding = a_binding(database)
    before = await binding.bind(str(top))
    top.rename(tmp_path / "moved")
    after = await binding.bind(str(tmp_path / "moved"))
    assert after.owner.repository_key != before.owner.repository_key
    assert set(await database.read(bindings.all_bound)) == {before, after}


async def test_the_secret_is_private_and_outlives_the_process(top: Path, tmp_path: Path) -> None:
    secrets = [os.urandom(32) for _ in range(2)]
    bounds = []
    for secret in secrets:
        async with open_database(tmp_path / "governance.db", queue_steps()) as database:
            drawn = bindings.Installation(secret=secret, uuid=f"db-{len(bounds)}")
            binding = Binding(database, FORMATS, lambda drawn=drawn: drawn, FakeClock().now)  # type: ignore[misc]
            bounds.append(await binding.bind(str(top)))
    assert bounds[0] == bounds[1]
    assert (tmp_path / "governance.db").stat().st_mode & 0o777 == 0o600


async def test_git_finds_nothing_changed_by_it(top: Path) -> None:
    def state() -> tuple[bytes, bytes]:
        return (top / ".git" / "index").read_bytes(), (top / ".git" / "HEAD").read_bytes()

    before, files = state(), sorted(top.rglob("*"))
    await a_binding().bind(str(top))
    assert (state(), sorted(top.rglob("*"))) == (before, files)


def test_a_path_that_is_not_utf8_is_refused_and_not_garbled(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    git(Path(os.fsdecode(folder)), "init", "-q")
    assert fault(lambda: located(os.fsdecode(folder))) is Kind.NOT_A_REPOSITORY


async def test_a_repository_has_the_name_that_recall_knows_it_by(top: Path) -> None:
    def key(folder: str) -> str:
        assert folder == os.path.realpath(top)
        return "ws_moved"

    binding = Binding(FakeDatabase(queue_steps()), FORMATS, lambda: INSTALLATION, FakeClock().now, key)
    assert (await binding.bind(str(top))).workspace_key == "ws_moved"


async def test_a_repository_in_the_place_of_a_trusted_one_is_not_trusted(top: Path, tmp_path: Path) -> None:
    git(top, "remote", "add", "origin", "https://code.example/org/project")
    database, told = FakeDatabase(queue_steps()), list[str]()

    async def forgot() -> None:
        """What is known in memory is read again."""
        told.append("forgot")

    clock = FakeClock()
    binding = Binding(database, FORMATS, lambda: INSTALLATION, clock.now, forgot=forgot)
    key = (await binding.bind(str(top))).owner.repository_key
    said = Trusted(trusted=True, via="terminal", at=clock.now())
    await database.write(lambda connection: trust.set_trust(connection, key, said))

    async def trusted() -> bool:
        clock.advance(seconds=1)
        assert (await binding.bind(str(top))).owner.repository_key == key
        return await database.read(lambda connection: trust.trust_of(connection, key)) is not None

    assert await trusted()
    top.rename(tmp_path / "away")
    git(tmp_path, "clone", "-q", str(tmp_path / "away"), "project")
    git(top, "remote", "set-url", "origin", "https://code.example/org/project")
    told.clear()
    assert await trusted() and told == ["forgot"]  # the same project, cloned anew: looked at once more
    assert await trusted() and told == ["forgot"]
    told.clear()
    top.rename(tmp_path / "again")
    top.mkdir()
    git(top, "init", "-q")
    git(top, "remote", "add", "origin", "https://code.example/evil/project")
    assert not await trusted() and told == ["forgot"]
    assert not await trusted() and told == ["forgot"]
