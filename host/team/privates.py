"""The user's own records of a workspace, for comparison and promotion: what `remember`, notes and formation left in the
data folder, never what stands in the repository's own files."""

import sqlite3
from collections.abc import Sequence

from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Private
from governance.team.errors import Kind, TeamFault
from governance.team.store.texts import asked
from host.clock import Clock
from host.roots import Roots
from recall.contracts import RuntimeScope, Status
from recall.errors import IndexFault
from recall.library import Library

LOOKED_AT = 200  # that the index finds; a repository's own entries among them are left out


class LibraryPrivates:
    """The port `Privates` over the library."""

    def __init__(self, library: Library, roots: Roots, clock: Clock) -> None:
        self._library = library
        self._roots = roots
        self._clock = clock

    async def near(self, bound: Bound, text: str, limit: int) -> Sequence[Private]:
        """At most `limit` records that hold any of the text's terms, best first. Raises TeamFault `state-failed`."""
        terms = asked(text)
        if not terms:
            return ()
        scope = scope_of(bound)
        found: list[Private] = []
        try:
            index = self._library.snapshot(self._clock.now())
            for one in await index.match(terms, scope, LOOKED_AT):
                if len(found) == limit:
                    break
                if not (one.promoted or one.loaded_by) and await self._own(bound, one.memory_id, scope):
                    found.append(Private(memory_id=one.memory_id, text=one.payload, revision=one.record_digest))
        except (IndexFault, sqlite3.Error) as error:
            raise _failed(error) from error
        return tuple(found)

    async def get(self, bound: Bound, memory_id: str) -> Private | None:
        """The record as it stands now. None: there is none, it is the repository's, or it holds no more. Raises
        TeamFault `state-failed`."""
        scope = scope_of(bound)
        try:
            await self._library.verify([memory_id], scope)  # a look at its file: the index may be behind
            found = await self._library.get(memory_id, scope)
            if found is None or found[0].status is not Status.ACTIVE or not await self._own(bound, memory_id, scope):
                return None
        except (IndexFault, sqlite3.Error) as error:
            raise _failed(error) from error
        record, locator = found
        return Private(memory_id=memory_id, text=record.text, revision=locator.record_digest)

    async def _own(self, bound: Bound, memory_id: str, scope: RuntimeScope) -> bool:
        """Whether its file is in the data folder."""
        found = await self._library.get(memory_id, scope)
        home = self._roots.private(bound.workspace_key).path
        return found is not None and found[1].source_file.startswith(f"{home}/")


def scope_of(bound: Bound) -> RuntimeScope:
    """What is of that workspace alone, whatever session asks. What holds for the user everywhere is left out: an entry
    of one repository does not take its place."""
    return RuntimeScope(session_id="", agent_id="", workspace=bound.workspace_key, user="")


def _failed(error: Exception) -> TeamFault:
    return TeamFault(Kind.STATE_FAILED, f"What is remembered cannot be asked: {error}", "See what `doctor` says.")
