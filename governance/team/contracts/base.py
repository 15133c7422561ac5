"""What every document of the team workflow is made of."""

import re

from recall.contracts import Frozen, Millis


class Document(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unknown fields are refused. `format` is written by `Formats.document`."""


class Owner(Document, frozen=True, kw_only=True):
    """Whose memory it is: names keyed with a secret of this installation. Callers never give one."""

    repository_key: str
    worktree_key: str


class Directory(Document, frozen=True, kw_only=True):
    """Decimal strings: inode numbers may not fit a JSON number."""

    device: str
    inode: str


class RepositoryBinding(Document, frozen=True, kw_only=True):
    """`repository-binding`. `public_repository_identity`: host/org/repo, None for a remote on this machine."""

    format: str
    repository_key: str
    worktree_key: str
    public_repository_identity: str | None
    root_realpath_digest: str
    common_directory_identity: Directory
    memory_root: str


class Bound(Frozen, frozen=True, kw_only=True):
    """A repository as an operation holds it: private, never sent. `root`: real path of the worktree's top."""

    owner: Owner
    binding: RepositoryBinding
    root: str
    workspace_key: str  # as recall names the repository

    @property
    def memory(self) -> str:
        return f"{self.root}/{self.binding.memory_root}"


class Call(Frozen, frozen=True, kw_only=True):
    """Who calls, and when. `holder`: keeps leases apart (the session, or the process of a command). `via`: as in
    `confirmation`."""

    principal: str  # user | agent | runner | policy
    holder: str
    now: Millis
    agent: str = ""  # the product, as claude-code


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def is_time(text: str) -> bool:
    """Whether a text has the form of a time in documents: UTC with milliseconds and Z."""
    return _TIME.fullmatch(text) is not None
