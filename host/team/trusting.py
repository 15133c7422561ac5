"""A person's answer whether a repository's memory is trusted (team.md 1), and what follows of it.

It is asked once and kept by repository. What a promotion of ours wrote there counts as reviewed without it, as long as
no byte of it changes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from governance.errors import AuditUnavailable
from governance.team.contracts.base import Bound, Call
from governance.team.errors import Kind, TeamFault
from governance.team.store import trust as stored
from governance.team.store.trust import Trusted
from host.parts import Parts
from host.roots import Roots
from host.team.waiting import Waiting
from host.trace import of_policy
from host.trusted import Trust
from recall.contracts import Database, Scope, ScopeRef
from recall.errors import IndexFault
from recall.library import Library
from recall.survey import counted, entries_in
from recall.workspace import repository_root

LOOKS, LOOK_SECONDS = 1000, 0.02  # at an index that follows


@dataclass(frozen=True, kw_only=True, slots=True)
class Trusting:
    """A person's answer, and what follows of it. `noted`: writes it into the audit, by workspace key."""

    trust: Trust
    database: Database
    roots: Roots
    library: Library
    waiting: Waiting
    noted: Callable[[str, bool], Awaitable[None]]

    async def set(self, bound: Bound, call: Call, trusted: bool) -> None:
        """The user answers. It holds at once: in all worktrees, for files that are read already, and for packets that
        wait. Raises TeamFault: `reviewer-kind` for anybody else, `sync-partial` when the index could not follow."""
        if call.principal != "user":
            raise TeamFault(
                Kind.REVIEWER_KIND,
                "Whether a repository's memory is trusted is the user's own decision.",
                "Ask the user to answer at a terminal of their own, with init.",
            )
        said = Trusted(trusted=trusted, via="terminal", at=call.now)
        key = bound.owner.repository_key
        await self.database.write(lambda connection: stored.set_trust(connection, key, said))
        await self.trust.read()
        await self.noted(bound.workspace_key, trusted)
        try:
            await self.roots.adopt_repository(bound.root, bound.workspace_key)
            await self.roots.trust_again(bound.workspace_key)
            if not trusted:
                await self._withdraw(bound.workspace_key)
        except IndexFault as error:
            raise TeamFault(
                Kind.SYNC_PARTIAL,
                f"The answer is kept, and the index cannot follow it now: {error}",
                "It does when it can be written again, at the latest when a session begins there.",
            ) from error

    async def settle(self) -> None:
        """At the start: repositories of which the index says something else than holds now, for the answer was lost or
        came while the index could not be written."""
        with suppress(IndexFault):
            await self.roots.trust_again()

    async def untold(self) -> Mapping[str, int]:
        """The repositories (tops of worktrees) that have memory and of which nobody was asked, with how many records.
        One that is not there any more, or is none of git's, is nothing to ask about."""
        with suppress(IndexFault):
            found = await self.library.survey(counted)
            unasked = {top: count for top, (workspace, count) in found.items() if self.trust.said(workspace) is None}
            return await asyncio.to_thread(lambda: {top: n for top, n in unasked.items() if _is_top(top)})
        return {}

    async def _withdraw(self, workspace: str) -> None:
        """Drop packets that show more of these memories than a stranger's word may, once no pass can make one more: a
        large folder is read anew for a while."""
        scope = ScopeRef(kind=Scope.WORKSPACE, key=workspace)
        for _ in range(LOOKS):
            if scope not in self.library.snapshot(0).unfinished:
                break
            await asyncio.sleep(LOOK_SECONDS)
        ids = await self.library.survey(lambda connection: entries_in(connection, workspace))
        for memory_id in (await self.waiting.carried()).intersection(ids):
            await self.waiting.purge(memory_id)


def _is_top(folder: str) -> bool:
    return str(repository_root(folder)) == folder


def trusting_of(parts: Parts) -> Trusting:
    """The answer and its consequences in a running remora."""

    async def noted(workspace: str, trusted: bool) -> None:
        outcome = "repository trusted" if trusted else "repository not trusted"
        entry = of_policy(outcome, "trust", parts.audit.ref(workspace), parts.clock.now())
        with suppress(AuditUnavailable):  # `health` says that the audit cannot be written
            await parts.ledger.append([entry])

    return Trusting(
        trust=parts.trust,
        database=parts.kept,
        roots=parts.roots,
        library=parts.library,
        waiting=Waiting(inbox=parts.inbox, claims=parts.claims, runtimes=parts.sessions.known),
        noted=noted,
    )
