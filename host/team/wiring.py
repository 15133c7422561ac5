"""Puts the operations of the team workflow together, over the parts of a running remora."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from governance.team.approving import Approvals
from governance.team.assembling import Assembling
from governance.team.citing import Citing
from governance.team.collecting import Collector, Sources
from governance.team.contracts.base import Bound
from governance.team.discarding import Discarding
from governance.team.formats import Formats
from governance.team.leases import Issue
from governance.team.preparing import Preparing
from governance.team.previewing import Previewing
from governance.team.promoting import Promoting
from governance.team.recalling import Recalling
from governance.team.referring import Referring
from governance.team.reviewing import Reviewing
from governance.team.running import Running
from governance.team.staging import Staging
from governance.team.status import Status
from governance.team.store.bindings import Installation
from governance.team.surroundings import Surroundings
from governance.team.syncing import Syncing
from governance.team.synthesis import Consolidating
from governance.team.trees import Tree
from governance.team.typed import TypedFacts
from host.adapters import ADAPTERS
from host.maintained import RULES
from host.parts import Parts
from host.team.bind import Binding
from host.team.committed import Reread
from host.team.formats import FORMATS
from host.team.history import TeamHistory
from host.team.privates import LibraryPrivates
from host.team.reading import read_still
from host.team.remembering import HistoryNeeds, history_of
from host.team.waiting import Waiting


@dataclass(frozen=True, kw_only=True, slots=True)
class Operations:
    """One object an operation, each over governance.db. `close`: lets go of files that stay open."""

    formats: Formats
    binding: Binding
    history: TeamHistory
    recalling: Recalling
    staging: Staging
    consolidating: Consolidating
    reviewing: Reviewing
    preparing: Preparing
    promoting: Promoting
    assembling: Assembling
    discarding: Discarding
    status: Status
    running: Running
    close: Callable[[], Awaitable[None]]


def team_of(parts: Parts) -> Operations:
    """The operations, one object each. They hold nothing that a restart would miss."""
    database, formats, clock = parts.kept, FORMATS, parts.clock
    issue = Issue(token=lambda: parts.new_id("lease_"))
    binding = Binding(
        database, formats, lambda: _fresh(parts), clock.now, key=parts.places.key, forgot=parts.trust.read
    )
    history, commits = history_of(
        HistoryNeeds(
            eventlog=parts.eventlog,
            main=parts.main,
            kept=database,
            places=parts.places,
            rollouts=parts.rollouts,
            providers=parts.providers,
            ref=parts.audit.ref,
            clock=clock,
            own=parts.own,
        )
    )
    privates = LibraryPrivates(parts.library, parts.roots, clock)
    collector = Collector(history=history, commits=commits, formats=formats)
    syncing = Syncing(database=database, read=read_still)
    citing = Citing(database=database, history=history, privates=privates)
    previewing, approvals = Previewing(database, citing, read_still), Approvals()
    waiting = Waiting(inbox=parts.inbox, claims=parts.claims, runtimes=parts.sessions.known)
    promoting = Promoting(
        database=database,
        formats=formats,
        queue=parts.queue,
        verify=binding.verify,
        citations=citing,
        syncing=syncing,
        committed=Reread(trust=parts.trust, roots=parts.roots, library=parts.library, waiting=waiting),
        data=parts.roots.data,
        fault=parts.fault,
    )
    recalling = Recalling(
        database=database,
        collector=collector,
        context=Surroundings(database=database, syncing=syncing, privates=privates),
        formats=formats,
        providers=frozenset(ADAPTERS),
        issue=issue,
    )
    staging = Staging(
        database=database,
        queue=parts.queue,
        syncing=syncing,
        privates=privates,
        sources=Sources(database=database, collector=collector),
        formats=formats,
        issue=issue,
        facts=TypedFacts(commits=commits, history=history),
    )
    consolidating = Consolidating(database=database, syncing=syncing, formats=formats, issue=issue)
    return Operations(
        formats=formats,
        binding=binding,
        history=history,
        recalling=recalling,
        staging=staging,
        consolidating=consolidating,
        reviewing=Reviewing(database, previewing, Referring(citing, history, privates), approvals, formats),
        preparing=Preparing(database, previewing, approvals, formats),
        promoting=promoting,
        assembling=Assembling(database=database, formats=formats, read=_without_entries, rules=RULES),
        discarding=Discarding(database, formats, promoting.closed),
        status=Status(database, syncing, formats),
        running=Running(
            database=database,
            recalling=recalling,
            staging=staging,
            consolidating=consolidating,
            formats=formats,
            enabled=parts.unattended,
        ),
        close=commits.close,
    )


def _fresh(parts: Parts) -> Installation:
    return Installation(secret=parts.drawn(), uuid=parts.new_id(""))


def _without_entries(bound: Bound) -> Tree:
    return read_still(bound, entries=False)
