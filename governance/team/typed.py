"""Facts that are verified without a person (team.md 4): two templates, word for word, and nothing that is like them.

`commit-changed-path@1`: Commit `<full hash>` changed `<path>`. The statement cites that commit, and git says that it
changed the path.

`command-exit@1`: `<command>` exited with <code>. The statement cites a turn in which a tool was called with just this
command, once, and ended so.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Commits, History
from governance.team.contracts.rows import EvidenceRow
from governance.team.contracts.staging import Statement
from governance.team.contracts.turns import TerminalState, TurnContent, TurnEvent
from governance.team.errors import TeamFault
from recall.contracts import Frozen

_COMMIT = re.compile(r"Commit `?(?P<hash>[0-9a-f]{40}(?:[0-9a-f]{24})?)`? changed `?(?P<path>[^\s`]+?)`?\.?")
_EXIT = re.compile(r"`(?P<command>[^`\n]{1,2000})` exited with (?P<code>\d{1,3})\.?")
_CODE = re.compile(r"exit(?:ed)?[ _-](?:with )?(?:code|status)\"?[:=]? ?(\d{1,3})", re.IGNORECASE)


class CommitChangedPath(Frozen, frozen=True, kw_only=True):
    hash: str
    path: str


class CommandExit(Frozen, frozen=True, kw_only=True):
    command: str
    code: int


def template(text: str) -> CommitChangedPath | CommandExit | None:
    """What a statement states, if it is of one of the two templates."""
    if found := _COMMIT.fullmatch(text.strip()):
        return CommitChangedPath(hash=found["hash"], path=found["path"])
    if found := _EXIT.fullmatch(text.strip()):
        return CommandExit(command=found["command"].strip(), code=int(found["code"]))
    return None


class Verified(Protocol):
    """Which statements need no person."""

    async def verified(
        self, bound: Bound, statements: Sequence[Statement], rows: Sequence[EvidenceRow]
    ) -> frozenset[str]:
        """The ids of the statements that hold, by what they cite. `rows`: the task's evidence."""
        ...


class Unverified:
    """Every statement waits for a person."""

    async def verified(
        self, bound: Bound, statements: Sequence[Statement], rows: Sequence[EvidenceRow]
    ) -> frozenset[str]:
        return frozenset()


class _Hash(msgspec.Struct, frozen=True):
    hash: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedFacts:
    """Asks git, and the turns themselves."""

    commits: Commits
    history: History

    async def verified(
        self, bound: Bound, statements: Sequence[Statement], rows: Sequence[EvidenceRow]
    ) -> frozenset[str]:
        """The ids of the statements that hold. What cannot be read is not verified."""
        held: set[str] = set()
        for one in statements:
            cited = [row for row in rows if row.evidence_id in one.evidence_ids]
            match template(one.text):
                case CommitChangedPath() as fact if await self._changed(bound, fact, cited):
                    held.add(one.statement_id)
                case CommandExit() as fact if await self._exited(fact, cited):
                    held.add(one.statement_id)
                case _:
                    pass
        return frozenset(held)

    async def _changed(self, bound: Bound, fact: CommitChangedPath, cited: Sequence[EvidenceRow]) -> bool:
        pointers = (msgspec.json.decode(row.pointer, type=_Hash) for row in cited if row.kind == "commit")
        if fact.hash not in {pointer.hash for pointer in pointers}:
            return False
        found = await self.commits.named(bound, fact.hash)
        return any(commit.commit == fact.hash and fact.path in commit.paths for commit in found)

    async def _exited(self, fact: CommandExit, cited: Sequence[EvidenceRow]) -> bool:
        keys = sorted({row.turn_key for row in cited if row.kind == "turn" and row.turn_key})
        for turn in await self.history.current(keys) if keys else ():
            try:
                content = await self.history.content(turn)
            except TeamFault:
                continue
            if ended(content, fact.command) == [fact.code]:
                return True
        return False


def ended(content: TurnContent, command: str) -> list[int | None]:
    """How each call of just this command ended in a turn: its exit code; None: nobody knows."""
    results = {event.call_id: event for event in content.events if event.kind == "tool-result"}
    return [_code(results.get(call.call_id)) for call in _calls(content.events, command)]


def _calls(events: Iterable[TurnEvent], command: str) -> list[TurnEvent]:
    return [one for one in events if one.kind == "tool-call" and one.call_id and one.text.strip() == command]


def _code(result: TurnEvent | None) -> int | None:
    """A tool that went well ended with 0; of one that failed, only what it says in so many words."""
    if result is None:
        return None
    if result.state is TerminalState.COMPLETED:
        return 0
    said = {int(code) for code in _CODE.findall(result.text)}
    return said.pop() if result.state is TerminalState.FAILED and len(said) == 1 and 0 not in said else None
