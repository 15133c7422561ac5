"""Names of repositories and worktrees, and what of a remote's address may be told."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team.binding import Place, another, bound_of, drift, public_identity
from governance.team.contracts.base import Bound
from tests.support.team_recall import FORMATS, INSTALLATION, a_bound

PLACE = Place(
    root="/project",
    common="/project/.git",
    device=2**63,
    inode=2**60,
    remote="https://kim:s3cret@code.example/org/project.git?token=x#y",
    workspace_key="ws_" + "a" * 32,
)


def test_a_binding_says_all_that_the_format_asks_and_no_path() -> None:
    bound = bound_of(PLACE, INSTALLATION.secret, FORMATS)
    written = msgspec.to_builtins(bound.binding)
    assert written == {
        "format": "remora-pre-repository-binding@v1",
        "repositoryKey": bound.owner.repository_key,
        "worktreeKey": bound.owner.worktree_key,
        "publicRepositoryIdentity": "code.example/org/project",
        "rootRealpathDigest": written["rootRealpathDigest"],
        "commonDirectoryIdentity": {"device": str(2**63), "inode": str(2**60)},
        "memoryRoot": ".remora-pre/memory",
    }
    told = msgspec.json.encode(bound.binding).decode()
    assert "/project/" not in told and "s3cret" not in told
    assert bound.memory == "/project/.remora-pre/memory"


def test_linked_worktrees_share_the_repository_and_differ_in_the_worktree() -> None:
    one, two, clone = a_bound(), a_bound("/tree", "/project/.git"), a_bound("/clone")
    assert one.owner.repository_key == two.owner.repository_key != clone.owner.repository_key
    assert len({one.owner.worktree_key, two.owner.worktree_key, clone.owner.worktree_key}) == 3


def test_names_depend_on_the_secret_and_a_path_cannot_be_guessed_back() -> None:
    other = bound_of(PLACE, b"o" * 32, FORMATS)
    assert other.owner != bound_of(PLACE, INSTALLATION.secret, FORMATS).owner
    same = msgspec.structs.replace(PLACE, root="/x", common="/x")
    keys = bound_of(same, INSTALLATION.secret, FORMATS).owner
    assert keys.repository_key != keys.worktree_key


def test_drift_is_told_apart() -> None:
    bound = bound_of(PLACE, INSTALLATION.secret, FORMATS)
    again = msgspec.structs.replace(PLACE, inode=7)
    elsewhere = msgspec.structs.replace(PLACE, root="/moved")
    assert drift(bound, bound_of(PLACE, INSTALLATION.secret, FORMATS)) == ""
    assert drift(bound, bound_of(again, INSTALLATION.secret, FORMATS)) == "repository"
    assert drift(bound, bound_of(elsewhere, INSTALLATION.secret, FORMATS)) == "owner"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://code.example/org/project.git", "code.example/org/project"),
        ("https://Kim:pass@Code.Example:8443/org/project/?q=1#f", "code.example/org/project"),
        ("ssh://git@code.example:22/org/project", "code.example/org/project"),
        ("git@code.example:org/project.git", "code.example/org/project"),
        ("git@code.example:/org/project.git", "code.example/org/project"),
        ("code.example:group/sub/project", "code.example/group/sub/project"),
        ("https://code.example/~kim/project.git", "code.example/~kim/project"),
        ("https://code.example/home/project", "code.example/home/project"),
        ("git+ssh://git@code.example/org/project", "code.example/org/project"),
        ("https://[2001:db8::1]/org/project", "2001:db8::1/org/project"),
        ("https://code.example/组织/项目.git", "code.example/组织/项目"),
        ("git@code.example:org/project.git?token=abc", "code.example/org/project"),
    ],
)
def test_an_address_that_others_can_use_is_host_and_path(url: str, identity: str) -> None:
    assert public_identity(url) == identity


@pytest.mark.parametrize(
    "url",
    [
        *("", "  ", "/srv/git/project.git", "../project", "./project", "project", "file:///srv/project.git"),
        *("C:\\src\\project", "C:/src/project", "c:project", "~/project", "https://localhost/org/project"),
        *("ssh://git@127.0.0.1/org/project", "http://[::1]/x/y", "git@localhost:org/project", "ext::sh -c x"),
        *("https://code.example/", "https://code.example", "https:///org/project", "https://code.example/../x"),
        *("https://code.example x/org/project", "git@code.example:", "https://code.example/a b/c", "x" * 3000),
        *("https://code.example/org/pro\nject", "javascript://code.example/x", "http://[bad/x/y"),
        *(
            "ssh://code.example/home/kim/project.git",
            "kim@code.example:/home/kim/project",
            "git@code.example:~/project",
        ),
        *(
            "ssh://code.example/~kim/project",
            "code.example:/Users/kim/project",
            "/".join(("ssh://code.example", "root", "project")),
        ),
        *("https://code.example/or\u200bg/project", "https://code.example/org/\u202eproject"),
        *("https://kim:hunter2/3@code.example/org/project", "https://a/b:hunter2@code.example/org"),
    ],
)
def test_what_is_on_this_machine_or_is_no_address_is_not_told(url: str) -> None:
    assert public_identity(url) is None


@given(st.text(max_size=60), st.text(alphabet="ab:/@?#.%", max_size=20))
def test_no_password_is_ever_told(user: str, tail: str) -> None:
    found = public_identity(f"https://{user}:hunter2@code.example/org/{tail}")
    assert found is None or "hunter2" not in found


@given(st.text(max_size=80))
def test_any_text_is_an_address_or_none(url: str) -> None:
    found = public_identity(url)
    assert found is None or (found and not any(character in found for character in "?#@ \n"))


def test_another_repository_is_one_with_another_directory_and_not_the_same_remote() -> None:
    def placed(**fields: object) -> Bound:
        return bound_of(msgspec.structs.replace(PLACE, **fields), INSTALLATION.secret, FORMATS)

    before = placed()
    assert not another(before, placed())
    assert not another(before, placed(device=7))  # a disk that was mounted anew
    assert not another(before, placed(inode=7))  # cloned anew from where it was
    assert not another(before, placed(remote="https://code.example/other/one"))
    assert another(before, placed(inode=7, remote="https://code.example/other/one"))
    assert another(before, placed(inode=7, remote=None))
    assert another(placed(remote=None), placed(inode=7, remote=None))
