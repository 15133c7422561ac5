"""Whose repository it is: names keyed with a secret of this installation, and what may be told of it (team.md 3). Pure.

The key of a repository is made of the path of git's common directory, that of a worktree of its top. So linked
worktrees share the first and differ in the second, and a repository that moved is another one.
"""

import re
from typing import Literal
from urllib.parse import urlsplit

from governance.team.contracts.base import Bound, Directory, Owner, RepositoryBinding
from governance.team.formats import Formats
from governance.team.homes import without_homes
from recall.canonical import keyed, text_digest
from recall.contracts import Frozen

_SCHEMES = frozenset({"https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https", "ftp", "ftps"})
_SCP = re.compile(r"(?:[^@/:\s]+@)?(?P<host>\[[^\]/\s]+\]|[^:/\s\[\]]{2,}):(?!//)(?P<path>.+)")
_THIS_MACHINE = re.compile(r"localhost|.*\.localhost|127(\.\d{1,3}){3}|::1|0\.0\.0\.0")
_HOST = re.compile(r"[A-Za-z0-9_](?:[\w.-]{0,251}[A-Za-z0-9_])?|[0-9a-fA-F:]{2,45}")
_SEGMENT = re.compile(r"[^\x00-\x20\x7f\\?#<>\"`@]{1,200}")  # a password with a slash in it ends in an @
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
LONGEST_URL = 2048


class Place(Frozen, frozen=True, kw_only=True):
    """A worktree as it was found. `root`, `common`: real paths of its top and of git's common directory; `device`,
    `inode`: of the latter; `remote`: the address of its remote, as git is configured; `workspace_key`: recall's name of
    the repository."""

    root: str
    common: str
    device: int
    inode: int
    remote: str | None
    workspace_key: str


def bound_of(place: Place, secret: bytes, formats: Formats) -> Bound:
    """The binding of a worktree."""
    owner = Owner(
        repository_key=keyed(secret, b"repo\0" + place.common.encode()),
        worktree_key=keyed(secret, b"worktree\0" + place.root.encode()),
    )
    binding = RepositoryBinding(
        format=formats.document("repository-binding"),
        repository_key=owner.repository_key,
        worktree_key=owner.worktree_key,
        public_repository_identity=None if place.remote is None else public_identity(place.remote),
        root_realpath_digest=text_digest(place.root),
        common_directory_identity=Directory(device=str(place.device), inode=str(place.inode)),
        memory_root=formats.memory_root,
    )
    return Bound(owner=owner, binding=binding, root=place.root, workspace_key=place.workspace_key)


def drift(bound: Bound, now: Bound) -> Literal["", "owner", "repository"]:
    """What is not as it was bound: `owner`: its top is another folder, or belongs to another repository;
    `repository`: the same path holds another git directory, as after a clone in its place."""
    before, after = bound.binding, now.binding
    if before.root_realpath_digest != after.root_realpath_digest or bound.owner != now.owner:
        return "owner"
    return "" if before.common_directory_identity == after.common_directory_identity else "repository"


def another(before: Bound, now: Bound) -> bool:
    """Whether another repository stands in the place of the one that was bound: its directory is another one, and its
    remote does not say that it is the same. What was said of the old one, a person did not say of this."""
    was, here = before.binding, now.binding
    same = was.public_repository_identity == here.public_repository_identity is not None
    return was.common_directory_identity.inode != here.common_directory_identity.inode and not same


def public_identity(url: str) -> str | None:
    """`host/org/repo` of a remote's address: no user, password, port, query or fragment. None: it is on this machine,
    or is no address that others could use."""
    url = url.strip()
    if not url or len(url) > LONGEST_URL or _CONTROL.search(url):
        return None
    parts = _by_scheme(url) if "://" in url else _by_scp(url)
    if parts is None:
        return None
    host, path = parts[0].strip("[]").lower().rstrip("."), parts[1]
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if not segments or not _HOST.fullmatch(host) or _THIS_MACHINE.fullmatch(host):
        return None
    segments[-1] = segments[-1].removesuffix(".git")
    if any(segment == ".." or not _SEGMENT.fullmatch(segment) or not segment.isprintable() for segment in segments):
        return None
    on_the_web = url.lower().startswith("http")
    return None if not on_the_web and _in_a_home(segments) else "/".join([host, *segments])


def _in_a_home(segments: list[str]) -> bool:
    """Whether a path on a host that a shell reaches names a user of it. On the web a `~` is a name like others."""
    path = f"/{'/'.join(segments)}"
    return segments[0] == "root" or segments[0].startswith("~") or without_homes(path) != path


def _by_scheme(url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    return (host, parts.path) if parts.scheme.lower() in _SCHEMES and host else None


def _by_scp(url: str) -> tuple[str, str] | None:
    """`user@host:org/repo`. A drive's letter is no host."""
    match = _SCP.fullmatch(url.partition("?")[0].partition("#")[0])
    return (match["host"], match["path"]) if match else None
