"""What an agent decided about drafts, as far as the document alone tells whether it holds (team.md 6.3). Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from governance.screen import secrets
from governance.team.contracts.staging import Adjudicated, AdjudicationResult, AdjudicationTask, MergedFields
from governance.team.drafting import DUPLICATE, SECRET, covering, shaped
from governance.team.errors import Kind, TeamFault
from recall.contracts import Frozen

INHERITED = "target:"
Act = Literal["store", "skip", "update", "merge"]
_ACTS: dict[str, Act] = {"add": "store", "drop": "skip"}
MOST_DRAFTS = 64
_MOST_OCCURRED = 366


class Decided(Frozen, frozen=True, kw_only=True):
    """`target_ids`: of pool items; of a skip also of drafts of the batch."""

    draft_ref: str
    act: Act
    target_ids: tuple[str, ...] = ()
    merged: MergedFields | None = None

    @property
    def replaces(self) -> bool:
        return self.act in ("update", "merge")


def decided(task: AdjudicationTask, result: AdjudicationResult) -> tuple[Decided, ...]:
    """The decisions in the order of the drafts.

    Raises TeamFault: `binding-drift` when it answers another task, `schema-invalid`, `content-not-covered`.
    """
    if result.binding != task.binding:
        raise TeamFault(
            Kind.BINDING_DRIFT,
            "The binding is not that of the task.",
            "Echo taskId and binding as the adjudication task has them.",
        )
    given = {one.draft_ref: one for one in result.decisions}
    refs = [one.draft_ref for one in task.drafts]
    if len(result.decisions) != len(given) or given.keys() != set(refs):
        missing = sorted(set(refs) - given.keys()) or sorted(given.keys() - set(refs)) or ["one of them twice"]
        raise _invalid(f"Every draft is to be decided about exactly once: {missing[0]!r}.")
    acts = {ref: _ACTS.get(given[ref].action, given[ref].action) for ref in refs}
    pool = {item.id for item in task.pool}
    for ref in refs:
        _fits(given[ref], acts, pool)
    found = tuple(
        Decided(
            draft_ref=ref,
            act=_act(acts[ref]),
            target_ids=given[ref].target_ids,
            merged=given[ref].merged_fields,
        )
        for ref in refs
    )
    _apart(found)
    return found


def _act(name: str) -> Act:
    match name:
        case "store" | "skip" | "update" | "merge":
            return name
        case _:
            raise _invalid(f"There is no action {name!r}.")


def _fits(one: Adjudicated, acts: Mapping[str, str], pool: Collection[str]) -> None:
    act, ids, ref = acts[one.draft_ref], one.target_ids, one.draft_ref
    if len(set(ids)) != len(ids):
        raise _invalid(f"{ref}: a target is named twice.")
    if (one.merged_fields is not None) != (act in ("update", "merge")):
        raise _invalid(f"{ref}: update and merge need mergedFields, and no other action takes them.")
    match act:
        case "store" if ids:
            raise _invalid(f"{ref}: what is stored as it is has no targets.")
        case "skip" if not ids:
            raise _invalid(f"{ref}: what is skipped names what covers it.")
        case "update" if len(ids) != 1:
            raise _invalid(f"{ref}: an update has exactly one target; for more, merge.")
        case "merge" if not ids:
            raise _invalid(f"{ref}: a merge names its targets.")
        case _:
            pass
    for target in ids:
        _target(one, target, acts, pool)
    if one.merged_fields is not None:
        _merged(ref, one.merged_fields)


def _target(one: Adjudicated, target: str, acts: Mapping[str, str], pool: Collection[str]) -> None:
    ref, act = one.draft_ref, acts[one.draft_ref]
    if target == ref:
        raise _invalid(f"{ref} is its own target.")
    if target in acts:  # a draft of the batch
        if act != "skip":
            raise _invalid(f"{ref}: {target} is a draft of the same batch: skip one for the other.")
        if acts[target] == "skip":
            raise _invalid(f"{ref} is skipped for {target}, which is skipped itself.")
    elif target not in pool:
        raise _invalid(f"{ref}: {target[:120]!r} is neither in the pool nor a draft of the batch.")


def _merged(ref: str, merged: MergedFields) -> None:
    shaped(f"{ref}: mergedFields", merged.content, merged.statements, merged.scene)
    ids = [one.statement_id for one in merged.statements]
    if len(set(ids)) != len(ids):
        raise _invalid(f"{ref}: {DUPLICATE}.")
    texts = (
        merged.content,
        merged.scene or "",
        *(said for one in merged.statements for said in (one.statement_id, one.text)),
    )
    found = next((found for text in texts if (found := secrets(text))), None)
    if found:
        raise _invalid(f"{ref}: {SECRET}: mergedFields hold a secret or personal datum ({found[0].family}).")
    covering(f"{ref}: mergedFields", merged.content, merged.statements)


def _apart(found: Sequence[Decided]) -> None:
    """Nothing is replaced twice, and nothing that is replaced covers anything."""
    taken: dict[str, str] = {}
    for one in found:
        for target in one.target_ids if one.replaces else ():
            if target in taken:
                raise _invalid(f"{one.draft_ref} and {taken[target]} both replace {target}: merge them into one.")
            taken[target] = one.draft_ref
    for one in found:
        gone = next((target for target in one.target_ids if target in taken), None)
        if one.act == "skip" and gone is not None:
            raise _invalid(f"{one.draft_ref} is skipped for {gone}, which {taken[gone]} replaces: name that one.")


def inherited(evidence_id: str) -> tuple[str, str] | None:
    """(target, statement) of `target:<id>/<statementId>`. None: it is an id of evidence."""
    if not evidence_id.startswith(INHERITED):
        return None
    target, _, statement = evidence_id.removeprefix(INHERITED).partition("/")
    return target, statement


def _invalid(problem: str) -> TeamFault:
    return TeamFault(Kind.SCHEMA_INVALID, problem, "Correct the document; nothing was changed.")
