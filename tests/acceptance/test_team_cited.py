"""What a staged candidate cites, over a real history and real git: what is public of it, what is verified by itself,
and when it holds no more (team.md 4; 15, items 20 and 21, the part of stage)."""

import pytest

from governance.team import payloads
from governance.team.citing import Citing
from governance.team.collecting import Collector, Sources
from governance.team.contracts.staging import (
    Adjudicated,
    AdjudicationResult,
    AdjudicationTask,
    Draft,
    DraftBatch,
    Statement,
)
from governance.team.contracts.turns import Strength, Support
from governance.team.leases import Issue
from governance.team.recalling import Recalling
from governance.team.staging import Staging
from governance.team.store import bindings, candidates
from governance.team.syncing import Syncing
from governance.team.tree import read_tree
from governance.team.typed import TypedFacts
from host.team.privates import LibraryPrivates
from tests.support.builders import an_event
from tests.support.clock import START, CountedIds
from tests.support.team_history import FORMATS, Histories, a_history, a_request, commit
from tests.support.team_recall import INSTALLATION, NoContext, a_call

CALL = a_call(now=START)


def parts_of(past: Histories) -> tuple[Recalling, Staging, Citing]:
    """Recall, stage and the look at citations over the same real parts."""
    parts, issue = past.world.parts, Issue.of(CountedIds())
    collector = Collector(history=past.history, commits=past.commits, formats=FORMATS)
    privates = LibraryPrivates(parts.library, parts.roots, parts.clock)
    recalling = Recalling(
        database=parts.kept,
        collector=collector,
        context=NoContext(),
        formats=FORMATS,
        providers=("claude-code", "codex"),
        issue=issue,
    )
    staging = Staging(
        database=parts.kept,
        queue=parts.queue,
        syncing=Syncing(database=parts.kept, read=lambda bound: read_tree(bound.root, bound.binding.memory_root)),
        privates=privates,
        sources=Sources(database=parts.kept, collector=collector),
        formats=FORMATS,
        issue=issue,
        facts=TypedFacts(commits=past.commits, history=past.history),
    )
    return recalling, staging, Citing(database=parts.kept, history=past.history, privates=privates)


async def worked(past: Histories) -> str:
    """Three turns, of which the second made a commit; its hash."""
    talk = past.talk()
    made = commit(past.root, {"src/app.py": "print('hi')\n"}, "Greet", talk.at(1, 5))
    events = [talk.begin(), *talk.turn(0), talk.prompt(1, "Commit it.")]
    events += [talk.call(1, "src/app.py", tool="write", step=1), talk.result(1, "written", tool="write", step=1)]
    events += [talk.call(1, "git commit -m Greet", step=2), talk.result(1, f"[main] {made} Greet", step=2)]
    events += [talk.reply(1, "Done.")]
    await past.log([*events, *talk.turn(2), *talk.turn(3)])
    return made


async def staged(past: Histories, recalling: Recalling, staging: Staging, text: str):
    """A statement that cites the turn of the commit and the commit, staged."""
    await past.world.parts.kept.write(lambda c: bindings.installation(c, INSTALLATION))
    (task,) = (await recalling.recall(past.bound, CALL, a_request(), 8)).sources
    cited = tuple(one.evidence_id for one in task.evidence_catalog if one.kind == "commit")
    turn = next(one.evidence_id for one in task.chunk.turn_evidence if one.turn_index == 1)
    stated = (Statement(statement_id="s1", text=text, evidence_ids=(turn, *cited)),)
    draft = Draft(content=text, type="work_fact", priority=50, confidence="high", statements=stated)
    batch = DraftBatch(
        format=FORMATS.document("candidate-draft-batch"),
        task_id=task.task_id,
        binding=task.binding,
        candidates=(draft,),
    )
    answer = await staging.draft(past.bound, CALL, batch)
    assert isinstance(answer, AdjudicationTask)
    result = AdjudicationResult(
        format=FORMATS.document("adjudication-result"),
        task_id=answer.task_id,
        binding=answer.binding,
        decisions=(Adjudicated(draft_ref=answer.drafts[0].draft_ref, action="store"),),
    )
    (said,) = (await staging.adjudicate(past.bound, CALL, result)).candidates
    read = past.world.parts.kept.read
    candidate = await read(lambda c: candidates.owned(c, past.bound.owner, said.candidate_id))
    return candidate, await read(lambda c: candidates.assessments(c, said.candidate_id))


@pytest.mark.promise("team-21")
async def test_item_21_the_day_the_commit_and_the_path_of_the_cited_turn_are_filled_and_nothing_private(tmp_path):
    async with a_history(tmp_path) as past:
        made = await worked(past)
        recalling, staging, citing = parts_of(past)
        candidate, (assessed,) = await staged(past, recalling, staging, f"Commit `{made}` changed `src/app.py`.")
        payload = payloads.entry(candidate)
        assert (payload.commits, payload.paths) == ((made,), ("src/app.py",))
        assert payload.occurred == ("2026-05-28",)
        assert (assessed.strength, assessed.support) == (Strength.DIRECT, Support.TYPED_FACT)
        for private in ("s-1", str(past.root), "turn-"):
            assert private not in candidate.payload
        assert await citing.check(past.bound, [candidate]) == {}


@pytest.mark.promise("team-20")
async def test_item_20_a_cited_turn_that_was_rewound_since_is_drift(tmp_path):
    async with a_history(tmp_path) as past:
        await worked(past)
        recalling, staging, citing = parts_of(past)
        candidate, (assessed,) = await staged(past, recalling, staging, "We commit what was asked for.")
        assert assessed.support is Support.UNVERIFIED
        back = an_event("session/rewound", {"events": ["prompt:s-1:1"]}, session_id="s-1", workspace=str(past.root))
        await past.log([back])
        drift = await citing.check(past.bound, [candidate])
        assert list(drift) == [candidate.candidate_id]
