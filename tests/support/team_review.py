"""A worktree with staged candidates, reviewed and prepared over a real database and real files.

The citations are told to the fake: which hold, and what stands behind them.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from governance.migrations import queue_steps
from governance.team import assessing, payloads
from governance.team.approving import Approvals
from governance.team.binding import Place, bound_of
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.ports import History
from governance.team.contracts.promoting import CandidateKind, PrepareRequest, PromotionPlan, Review
from governance.team.contracts.rows import (
    Assessment,
    Candidate,
    CandidateState,
    EntryPayload,
    EvidenceRow,
    SkillPayload,
    Target,
)
from governance.team.contracts.staging import SkillProposal, Statement
from governance.team.contracts.turns import Strength, Support, TurnContent
from governance.team.formats import Formats
from governance.team.preparing import Preparing
from governance.team.previewing import Previewing
from governance.team.referring import Referring
from governance.team.reviewing import Reviewing
from governance.team.store import candidates, plans
from governance.team.tree import read_tree
from governance.team.trees import Tree
from host import namespace
from host.database import open_database
from recall.canonical import short_id, text_digest
from recall.contracts import Database
from recall.team_entry import entry_path
from tests.support import team_recall
from tests.support.clock import START
from tests.support.team_recall import FakeHistory, an_event
from tests.support.team_stage import FakePrivates

FORMATS = Formats(prefix=namespace.name(), mark=namespace.MARK, folder=namespace.REPOSITORY_FOLDER)
AGENT = Call(principal="agent", holder="session-one", now=START, agent="claude-code")
USER = Call(principal="user", holder="terminal", now=START)
TASK = "extract-" + "9" * 64
EVIDENCE = "ev-1-0123456789ab"


@dataclass
class FakeCitations:
    """`reasons`: why the citations of a candidate do not hold, by its id; `rows`: its evidence by statement."""

    reasons: dict[str, str] = field(default_factory=dict)
    rows: dict[str, Mapping[str, Sequence[EvidenceRow]]] = field(default_factory=dict)

    async def check(self, bound: Bound, found: Sequence[Candidate]) -> Mapping[str, str]:
        ids = {one.candidate_id for one in found}
        return {name: reason for name, reason in self.reasons.items() if name in ids}

    async def references(self, candidate: Candidate) -> Mapping[str, Sequence[EvidenceRow]]:
        return self.rows.get(candidate.candidate_id, {})


@dataclass
class Desk:
    """What reviews and prepares; `now` is the clock of its calls."""

    database: Database
    bound: Bound
    citations: FakeCitations = field(default_factory=FakeCitations)
    history: History = field(default_factory=FakeHistory)
    privates: FakePrivates = field(default_factory=FakePrivates)
    formats: Formats = FORMATS
    approvals: Approvals = field(default_factory=Approvals)
    read: Callable[[Bound], Tree] = lambda bound: read_tree(bound.root, bound.binding.memory_root)
    now: int = START
    made: int = 0

    @property
    def root(self) -> Path:
        return Path(self.bound.root)

    @property
    def previewing(self) -> Previewing:
        return Previewing(self.database, self.citations, self.read)

    async def review(
        self, kind: CandidateKind = "entry", ids: Sequence[str] | None = None, call: Call = AGENT
    ) -> Review:
        referring = Referring(self.citations, self.history, self.privates)
        reviewing = Reviewing(self.database, self.previewing, referring, self.approvals, self.formats)
        return await reviewing.review(self.bound, msgspec.structs.replace(call, now=self.now), kind, ids)

    async def asked(self, kind: CandidateKind = "entry", ids: Sequence[str] | None = None) -> PrepareRequest:
        """The request that a review of this gives."""
        approval = (await self.review(kind, ids)).approval
        assert approval is not None
        return approval.prepare_request

    async def prepare(self, request: PrepareRequest, call: Call = AGENT) -> PromotionPlan:
        preparing = Preparing(self.database, self.previewing, self.approvals, self.formats)
        return await preparing.prepare(self.bound, msgspec.structs.replace(call, now=self.now), request)

    async def stage(self, candidate: Candidate, *assessments: Assessment) -> Candidate:
        """Store a candidate; without assessments with those that its statements get."""
        made = assessments or tuple(map(assess, statements_of(candidate)))
        await self.database.write(lambda connection: candidates.insert(connection, candidate, made))
        return candidate

    async def entry(self, content: str, **fields: Any) -> Candidate:
        return await self.stage(self.an_entry(content, **fields))

    def an_entry(self, content: str, *targets: Target, parts: Sequence[str] = (), **fields: Any) -> Candidate:
        """A staged entry. `parts`: its statements, when it has several."""
        stated = tuple(
            Statement(statement_id=f"s{n}", text=text, evidence_ids=(EVIDENCE,))
            for n, text in enumerate(parts or (content,), 1)
        )
        given: dict[str, Any] = {
            "content": content,
            "type": "work_method",
            "priority": 70,
            "confidence": "high",
            "scene": None,
            "statements": stated,
            "occurred": ("2026-11-12",),
        }
        payload = EntryPayload(**(given | fields))
        return self._candidate("entry", payloads.encoded(payload), content, payload.type, targets)

    def a_skill(
        self, name: str, body: str, expected: str | None = None, description: str = "How to do it."
    ) -> Candidate:
        skill = SkillProposal(
            name=name,
            description=description,
            body=body,
            action="update" if expected else "create",
            expected_content_digest=expected,
        )
        stated = (Statement(statement_id="s1", text=body, evidence_ids=(EVIDENCE,)),)
        payload = payloads.encoded(SkillPayload(skill=skill, statements=stated))
        return self._candidate("skill", payload, name, "work_method", ())

    def _candidate(
        self, kind: CandidateKind, payload: str, content: str, entry_type: str, targets: Sequence[Target]
    ) -> Candidate:
        self.made += 1
        candidate_id = f"{TASK}-c{self.made}"
        owner = self.bound.owner
        memory_id = short_id("mem_", {"candidate": candidate_id, "repository": owner.repository_key})
        path = f"{self.bound.binding.memory_root}/{entry_path(content, memory_id, entry_type)}"
        return Candidate(
            candidate_id=candidate_id,
            kind=kind,
            task_id=TASK,
            owner=owner,
            state=CandidateState.STAGED,
            revision=2,
            memory_id=memory_id if kind == "entry" else "",
            target_path=path if kind == "entry" else "",
            payload=payload,
            supersedes=tuple(targets),
            created_at=START + self.made,
            changed_at=START + self.made,
        )

    async def supports(self, candidate_id: str) -> set[Support]:
        """What the statements of a candidate are said to be supported by."""
        found = await self.database.read(lambda connection: candidates.assessments(connection, candidate_id))
        return {one.support for one in found}

    async def confirmed(self) -> int:
        """How many statements, of all, a person confirmed."""
        counted = "SELECT count(*) FROM team_assessment WHERE support = 'human-confirmed' OR confirmed_at IS NOT NULL"
        found: int = await self.database.read(lambda connection: connection.execute(counted).fetchone()[0])
        return found

    async def states(self) -> dict[str, int]:
        """Plans of this worktree by state."""
        key = self.bound.owner.worktree_key
        return await self.database.read(lambda connection: plans.counts(connection, key))

    async def execute(self, statement: str, *values: object) -> None:
        """Change what is stored, as somebody else would."""
        await self.database.write(lambda connection: connection.execute(statement, values).rowcount)


@asynccontextmanager
async def a_desk(folder: Path) -> AsyncIterator[Desk]:
    """A worktree below a folder, and its database."""
    root = folder / "repository"
    root.mkdir(parents=True)
    top = str(root.resolve())
    place = Place(
        root=top, common=f"{top}/.git", device=1, inode=2, remote="https://example.test/org/repo", workspace_key="ws_1"
    )
    async with open_database(folder / "governance.db", queue_steps()) as database:
        yield Desk(database=database, bound=bound_of(place, b"k" * 32, FORMATS))


def statements_of(candidate: Candidate) -> tuple[Statement, ...]:
    match candidate.kind:
        case "entry":
            return payloads.entry(candidate).statements
        case "skill":
            return payloads.skill(candidate).statements
        case _:
            return payloads.consolidation(candidate).statements


def assess(statement: Statement, support: Support = Support.UNVERIFIED) -> Assessment:
    """As stage assesses a statement that cites a turn."""
    row = an_evidence()
    made = assessing.assessed(statement, {EVIDENCE: (assessing.basis(TASK, row),)})
    return msgspec.structs.replace(made, support=support)


def an_evidence(**fields: Any) -> EvidenceRow:
    given: dict[str, Any] = {
        "evidence_id": EVIDENCE,
        "kind": "turn",
        "pointer_digest": text_digest("turn"),
        "display": "turn 1, claude-code",
        "pointer": '{"at":1794441600000,"payloadDigest":"p","revision":1,"sessionKey":"s","turnKey":"t1"}',
        "strength": Strength.DIRECT,
        "limitations": ("source-local-only",),
        "turn_key": "t1",
        "turn_revision": 1,
    }
    return EvidenceRow(**(given | fields))


def a_turn(*said: tuple[str, str]) -> TurnContent:
    """A sealed turn of these kinds and texts; its key is that of `an_evidence`."""
    events = (an_event(kind, text, number) for number, (kind, text) in enumerate(said, 1))
    return team_recall.a_turn(0, *events, turn_key="t1")
