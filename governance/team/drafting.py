"""Drafts as they come in: what of a batch is kept, and the candidates that are made of it (team.md 6.1). Pure.

One bad draft costs only itself. A content that its statements do not cover refuses the document as a whole, though:
nothing was taken in then, and the agent sends it again in better words.
"""

from collections.abc import Collection, Sequence

from governance.screen import is_instruction_like, secrets
from governance.team import payloads
from governance.team.assessing import assessed, basis
from governance.team.cited import public_of
from governance.team.contracts.base import Bound
from governance.team.contracts.rows import (
    Assessment,
    Candidate,
    CandidateState,
    EntryPayload,
    EvidenceRow,
    Target,
)
from governance.team.contracts.staging import Draft, RejectedDraft, Statement
from governance.team.covering import absent, uncovered
from governance.team.errors import Kind, TeamFault
from governance.team.sanitising import sanitised
from recall.canonical import short_id
from recall.contracts import Frozen, Millis
from recall.team_entry import entry_path

MOST_DRAFTS, MOST_STATEMENTS = 8, 16
MOST_TEXT = 65_536  # bytes
MOST_SCENE, MOST_ID = 200, 120  # characters
QUARANTINED = "quarantined"
UNKNOWN, DUPLICATE, SECRET, SAID_NO = "unknown-evidence", "duplicate-statement", "secret", "said-no"


class Kept(Frozen, frozen=True, kw_only=True):
    """A draft that holds. `index`: its place in the batch."""

    index: int
    draft: Draft


class Checked(Frozen, frozen=True, kw_only=True):
    kept: tuple[Kept, ...]
    rejected: tuple[RejectedDraft, ...]


class Born(Frozen, frozen=True, kw_only=True):
    """Whose candidate it is: the n of `<taskId>-c<n>`, and when."""

    task_id: str
    number: int
    at: Millis


class Made(Frozen, frozen=True, kw_only=True):
    """A candidate with our assessments of its statements. `text`: what search reads of it."""

    candidate: Candidate
    assessments: tuple[Assessment, ...]
    text: str


def checked(drafts: Sequence[Draft], known: Collection[str], most: int = MOST_DRAFTS) -> Checked:
    """Tell the drafts that hold from those that do not. `known`: ids of the task's evidence.

    Raises TeamFault: `schema-invalid` for what no draft may be, and when none is left of some; `content-not-covered`.
    """
    if len(drafts) > most:
        raise _invalid(f"It has {len(drafts)} candidates; {most} are taken.", "Give the best ones alone.")
    kept: list[Kept] = []
    rejected: list[RejectedDraft] = []
    for index, draft in enumerate(drafts):
        where = f"candidates[{index}]"
        shaped(where, draft.content, draft.statements, draft.scene)
        fault = unfit(draft.content, draft.statements, draft.scene, known)
        if fault is None:
            covering(where, draft.content, draft.statements)
            kept.append(Kept(index=index, draft=draft))
        else:
            rejected.append(RejectedDraft(index=index, code=fault[0], detail=fault[1]))
    left(len(drafts), len(kept), rejected)
    return Checked(kept=tuple(kept), rejected=tuple(rejected))


def left(given: int, kept: int, rejected: Sequence[RejectedDraft]) -> None:
    """Raises TeamFault `schema-invalid` when none is left of some drafts: to say that there is nothing is another
    document."""
    if given and not kept:
        why = "; ".join(f"candidates[{one.index}]: {one.code}, {one.detail}" for one in rejected)
        raise _invalid(f"None of the candidates can be taken: {why}.", "Correct them, or send an empty batch.")


def shaped(where: str, content: str, statements: Sequence[Statement], scene: str | None) -> None:
    """Raises TeamFault `schema-invalid` for texts that are empty or too long, and too many statements."""
    if not content.strip():
        raise _invalid(f"{where}.content is empty.", "Say what is to be remembered.")
    if len(content.encode("utf-8", "surrogatepass")) > MOST_TEXT:
        raise _invalid(f"{where}.content is longer than {MOST_TEXT} bytes.", "Say it shorter.")
    if not 1 <= len(statements) <= MOST_STATEMENTS:
        raise _invalid(
            f"{where} has {len(statements)} statements; 1 to {MOST_STATEMENTS} are taken.", "Join or part them."
        )
    if scene is not None and not 1 <= len(scene.strip()) <= len(scene) <= MOST_SCENE:
        raise _invalid(f"{where}.scene has {len(scene)} characters; 1 to {MOST_SCENE} are taken.", "Or give null.")
    stated(where, statements)


def stated(where: str, statements: Sequence[Statement]) -> None:
    """Raises TeamFault `schema-invalid` for statements without an id or a text, or with one that is too long."""
    for place, one in enumerate(statements):
        if not 1 <= len(one.statement_id.strip()) <= MOST_ID or not one.statement_id.isprintable():
            raise _invalid(
                f"{where}.statements[{place}].statementId is no line of 1 to {MOST_ID} characters.", "Give one."
            )
        if not one.text.strip() or len(one.text.encode("utf-8", "surrogatepass")) > MOST_TEXT:
            raise _invalid(
                f"{where}.statements[{place}].text is empty, or longer than {MOST_TEXT} bytes.", "Say it shorter."
            )


def unfit(
    content: str, statements: Sequence[Statement], scene: str | None, known: Collection[str]
) -> tuple[str, str] | None:
    """Why a draft alone falls: (code, detail). No word of a secret is in it."""
    seen: set[str] = set()
    for one in statements:
        if one.statement_id in seen:
            return DUPLICATE, f"two statements have the id {one.statement_id!r}"
        seen.add(one.statement_id)
        foreign = next((evidence_id for evidence_id in one.evidence_ids if evidence_id not in known), None)
        if foreign is not None:
            return UNKNOWN, f"{one.statement_id!r} cites {foreign[:MOST_ID]!r}, which this task has no evidence of"
    for text in (content, scene or "", *(said for one in statements for said in (one.statement_id, one.text))):
        found = secrets(text)
        if found:
            return SECRET, f"a secret or personal datum ({found[0].family})"
    return None


def covering(where: str, content: str, statements: Sequence[Statement]) -> None:
    """Raises TeamFault `content-not-covered`: the content says what no statement says, or the other way round."""
    said = [one.text for one in statements]
    index = absent(content, said)
    if index is not None:
        raise _uncovered(f"{where}: the statement {statements[index].statement_id!r} does not stand in the content.")
    rest = uncovered(content, said)
    if rest is not None:
        raise _uncovered(f"{where}: no statement says {rest!r}.")


def made(bound: Bound, born: Born, draft: Draft, rows: Sequence[EvidenceRow], typed: Collection[str] = ()) -> Made:
    """The candidate of a draft that holds. `rows`: the task's evidence; `typed`: statements that were verified without
    a person. Raises KeyError for what is not in the evidence."""
    cited = [evidence_id for one in draft.statements for evidence_id in one.evidence_ids]
    public = public_of(rows, cited)
    payload = EntryPayload(
        content=draft.content,
        type=draft.type,
        priority=draft.priority,
        confidence=draft.confidence,
        scene=draft.scene,
        statements=draft.statements,
        occurred=public.occurred,
        commits=public.commits,
        paths=public.paths,
    )
    bases = {row.evidence_id: (basis(born.task_id, row),) for row in rows}
    return Made(
        candidate=candidate_of(bound, born, payload),
        assessments=tuple(assessed(one, bases, typed=typed) for one in payload.statements),
        text=payload.content,
    )


def candidate_of(bound: Bound, born: Born, payload: EntryPayload) -> Candidate:
    """The draft of a payload, under ids that follow from its task and number."""
    candidate_id = f"{born.task_id}-c{born.number}"
    memory_id = short_id("mem_", {"candidate": candidate_id, "repository": bound.owner.repository_key})
    return Candidate(
        candidate_id=candidate_id,
        kind="entry",
        task_id=born.task_id,
        owner=bound.owner,
        state=CandidateState.DRAFT,
        revision=1,
        memory_id=memory_id,
        target_path=path_of(bound, payload, memory_id),
        payload=payloads.encoded(payload),
        flags=flags_of(payload.content, payload.scene),
        created_at=born.at,
        changed_at=born.at,
    )


def path_of(bound: Bound, payload: EntryPayload, memory_id: str) -> str:
    """Where its file would stand, relative to the worktree's top. Its name is made of what the file will say: a path of
    this machine is in neither."""
    said = sanitised(payload.content).strip("\n")
    return f"{bound.binding.memory_root}/{entry_path(said, memory_id, payload.type)}"


def flags_of(content: str, scene: str | None) -> tuple[str, ...]:
    """What the screen holds back waits for a person to clear it."""
    return (QUARANTINED,) if is_instruction_like(f"{scene or ''}\n{content}") else ()


def targets(found: Sequence[Target]) -> tuple[Target, ...]:
    """Each target once, the latest of it, by kind and id."""
    latest = {(one.source_kind, one.id): one for one in found}
    return tuple(latest[key] for key in sorted(latest))


def _invalid(problem: str, next_step: str) -> TeamFault:
    return TeamFault(Kind.SCHEMA_INVALID, problem, next_step)


def _uncovered(problem: str) -> TeamFault:
    return TeamFault(
        Kind.CONTENT_NOT_COVERED,
        problem,
        "Make the content of the texts of its statements, word for word, and nothing else but bullets and punctuation.",
    )
