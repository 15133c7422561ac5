"""What leaves the team's tables with a private record that the user forgets: no proposal made of it keeps a word.

Within the transaction that forgets it. What was promoted stands in the repository, where it is the user's to delete. A
plan that is being applied is left alone: it ends, or is rolled back, by its own journal.
"""

import sqlite3
from collections.abc import Collection, Iterable

import msgspec

from governance.team.contracts.staging import AdjudicationTask, Staged, Statement
from governance.team.store import candidates, texts
from governance.team.store.texts import Source
from recall.contracts import Millis

FORGOTTEN = "forgotten"
_MADE_OF = (
    "SELECT candidate_id FROM team_candidate one WHERE kind = 'entry' AND state != 'promoted' AND (candidate_id = ?1"
    " OR EXISTS (SELECT 1 FROM json_each(supersedes) WHERE json_extract(value, '$.id') = ?1"
    " AND json_extract(value, '$.sourceKind') = 'private')) AND NOT EXISTS (SELECT 1 FROM team_plan_candidate c"
    " JOIN team_plan p ON p.plan_id = c.plan_id WHERE p.state = 'applying' AND c.candidate_id = one.candidate_id)"
    " ORDER BY candidate_id"
)
_EMPTIED = (
    "UPDATE team_candidate SET state = 'discarded', revision = revision + 1, target_path = '', reason = ?2,"
    " changed_at = ?3, payload = json_set(payload, '$.content', '', '$.scene', NULL, '$.statements', json('[]'),"
    " '$.paths', json('[]')) WHERE candidate_id = ?1"
)
_UNSAID = "UPDATE team_assessment SET text_digest = '' WHERE candidate_id = ?"
_QUOTES = (
    "UPDATE team_evidence SET display = '', pointer = json_set(pointer, '$.quote', '') WHERE task_id IN"
    " (SELECT t.task_id FROM team_task t JOIN team_candidate c ON c.task_id = t.task_id WHERE t.kind = 'share'"
    " AND c.candidate_id = ?)"
)
_PLANS = (
    "SELECT p.plan_id FROM team_plan p JOIN team_plan_candidate c ON c.plan_id = p.plan_id"
    " WHERE c.candidate_id = ? AND p.state IN ('generated', 'approved', 'voided')"
)
_VOIDED = (
    "UPDATE team_plan SET reason = CASE state WHEN 'voided' THEN reason ELSE ?2 END, state = 'voided', changed_at = ?3,"
    " document = replace(document, ?4, '') WHERE plan_id = ?1"
)
_BYTES = "UPDATE team_plan_file SET new = NULL, target_path = replace(target_path, ?2, '') WHERE plan_id = ?1"
_TASKS = "SELECT task_id, document FROM team_task WHERE kind = 'adjudication' AND instr(document, ?)"
_OUTCOMES = "SELECT task_id, stage, outcome FROM team_submission WHERE instr(outcome, ?)"
_encoder = msgspec.json.Encoder(order="sorted")


def erase(connection: sqlite3.Connection, memory_id: str, at: Millis) -> tuple[str, ...]:
    """Leave no word of a private record, or of a candidate by its own id: the ids of the candidates that were made of
    it, discarded and emptied now.

    Raises TeamFault `state-corrupt` for a row that cannot be read.
    """
    made_of = tuple(candidate_id for (candidate_id,) in connection.execute(_MADE_OF, (memory_id,)).fetchall())
    for candidate_id in made_of:
        _candidate(connection, candidate_id, at)
    if made_of:
        texts.compact(connection)
    gone = frozenset({memory_id, *made_of})
    for name in sorted(gone):
        for task_id, document in connection.execute(_TASKS, (name,)).fetchall():
            text = _without(document, gone)
            connection.execute("UPDATE team_task SET document = ? WHERE task_id = ?", (text, task_id))
        for task_id, stage, outcome in connection.execute(_OUTCOMES, (name,)).fetchall():
            about = (_without(outcome, gone), task_id, stage)
            connection.execute("UPDATE team_submission SET outcome = ? WHERE task_id = ? AND stage = ?", about)
    return made_of


def _candidate(connection: sqlite3.Connection, candidate_id: str, at: Millis) -> None:
    held = candidates.get(connection, candidate_id)
    assert held is not None
    for (plan_id,) in connection.execute(_PLANS, (candidate_id,)).fetchall():
        connection.execute(_VOIDED, (plan_id, FORGOTTEN, at, held.target_path))
        connection.execute(_BYTES, (plan_id, held.target_path))
    connection.execute(_QUOTES, (candidate_id,))
    connection.execute(_UNSAID, (candidate_id,))
    connection.execute(_EMPTIED, (candidate_id, FORGOTTEN, at))
    texts.drop(connection, held.owner.worktree_key, Source.CANDIDATE, candidate_id)
    texts.advance(connection, held.owner.worktree_key, at)


def _without(text: str, gone: Collection[str]) -> str:
    """A document without what these said: an adjudication task, or what came of one."""
    try:
        task = msgspec.json.decode(text, type=AdjudicationTask)
    except msgspec.MsgspecError:
        return _paths(text, gone)
    drafts = tuple(
        msgspec.structs.replace(one, content="", scene=None, statements=_unsaid(one.statements))
        if one.draft_ref in gone
        else one
        for one in task.drafts
    )
    pool = tuple(msgspec.structs.replace(one, summary="") if one.id in gone else one for one in task.pool)
    return _encoder.encode(msgspec.structs.replace(task, drafts=drafts, pool=pool)).decode()


def _paths(text: str, gone: Collection[str]) -> str:
    """Names of files are made of words, too."""
    try:
        done = msgspec.json.decode(text, type=Staged)
    except msgspec.MsgspecError:
        return text
    found = tuple(
        msgspec.structs.replace(one, target_path=None) if one.candidate_id in gone else one for one in done.candidates
    )
    return _encoder.encode(msgspec.structs.replace(done, candidates=found)).decode()


def _unsaid(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    return tuple(msgspec.structs.replace(one, text="") for one in statements)
