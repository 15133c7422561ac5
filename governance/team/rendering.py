"""The files that candidates would be, byte for byte, and those that they take the place of (team.md 8, 11). Pure.

Nothing is rendered over a file that is there by chance: a new entry needs a free path, and an entry or skill that is
replaced must be the one that was looked at when that was decided.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from governance.formation.errors import AnswerFault
from governance.team import patching, payloads
from governance.team.approving import Judged, confirmed
from governance.team.assessing import shown
from governance.team.contracts.base import Bound
from governance.team.contracts.rows import EntryPayload, FileChange, SkillPayload
from governance.team.errors import Kind, TeamFault
from governance.team.files import MOST_ENTRIES, MOST_SKILLS, Skill, normal, render_skill, skill_path
from governance.team.linting import lint_file
from governance.team.paths import target
from governance.team.sanitising import sanitised, sanitised_line
from governance.team.trees import Tree
from recall.team_entry import CommitRef, Entry, EntryEvidence, parse, render, superseded

MOST_FILES = 128
FILE_BYTES = 1_048_576
PLAN_BYTES = 8_388_608


def files_of(
    bound: Bound, judged: Sequence[Judged], tree: Tree, private: Collection[str] = ()
) -> tuple[FileChange, ...]:
    """All files of these candidates as they would be once a person said yes, by path. `private`: names of sessions and
    turns, which may not stand in them.

    Raises TeamFault: `target-drift`, `candidate-stale`, `binding-drift`: the repository is not as the candidate saw it;
    `target-path-invalid`; `sanitization-blocked`; `capacity-exceeded`; `schema-invalid`: no file can be made of it.
    """
    found: dict[str, FileChange] = {}
    for one in judged:
        for change in _files(bound, confirmed(one), tree, private):
            if change.target_path in found:
                raise TeamFault(
                    Kind.CANDIDATE_STALE,
                    f"{one.candidate.candidate_id} changes {change.target_path}, and so does another one here.",
                    "Promote one of them, then review the other.",
                )
            found[change.target_path] = change
    files = tuple(found[path] for path in sorted(found))
    room(files, tree)
    return files


def _files(bound: Bound, one: Judged, tree: Tree, private: Collection[str]) -> tuple[FileChange, ...]:
    root = bound.binding.memory_root
    match one.candidate.kind:
        case "entry":
            files = tuple(_entry(bound, one, payloads.entry(one.candidate), tree))
        case "skill":
            files = (_skill(root, payloads.skill(one.candidate), tree),)
        case "consolidation":
            files = patching.files_of(payloads.consolidation(one.candidate), tree, root)
    if one.candidate.flags:
        raise TeamFault(
            Kind.SANITIZATION_BLOCKED,
            f"{one.candidate.candidate_id} was flagged when it was staged: {', '.join(one.candidate.flags)}.",
            "Discard it, and stage it again without what reads as an instruction.",
        )
    for change in files:
        if problem := target(change.target_path, root):
            raise TeamFault(
                Kind.TARGET_PATH_INVALID, f"{change.target_path!r}: {problem}", "Discard the candidate and stage again."
            )
    screened(files, root, private)
    return files


def screened(files: Iterable[FileChange], memory_root: str, private: Collection[str] = ()) -> None:
    """Raises TeamFault `sanitization-blocked` for what must not be written: secrets, flags, ids and paths of sessions,
    conflict markers, caps, or a form that would not be read. What stood in the file before is not held against it.

    An entry is told by its id: its path is made of its first words, and what is blocked may be one of them.
    """
    for change in files:
        if change.data is None:
            continue
        before = change.before
        old = () if before is None else lint_file(change.target_path, before, memory_root, private)
        known = {(one.rule, one.problem) for one in old}
        for one in lint_file(change.target_path, change.data, memory_root, private):
            if one.level == "block" and (one.rule, one.problem) not in known:
                raise TeamFault(
                    Kind.SANITIZATION_BLOCKED,
                    f"{_named(change)}, line {one.line}: {one.rule}: {one.problem}",
                    one.next or "Discard the candidate and stage it again without that.",
                )


def _named(change: FileChange) -> str:
    entry = parse(change.data or b"")
    return entry.id if isinstance(entry, Entry) else change.target_path


def _entry(bound: Bound, one: Judged, payload: EntryPayload, tree: Tree) -> Iterator[FileChange]:
    candidate, root = one.candidate, bound.binding.memory_root
    path = candidate.target_path
    _vacant(path, candidate.candidate_id, tree)
    yield FileChange(
        target_path=path,
        operation="write",
        data=_rendered(_entry_of(bound, one, payload), candidate.candidate_id),
        before=None,
        memory_id=candidate.memory_id,
    )
    for supersede in candidate.supersedes:
        if supersede.source_kind != "approved":
            continue
        old = tree.entry(supersede.id)
        if old is None or old.entry.status != "approved" or supersede.revision not in ("", old.digest):
            state = "is gone or cannot be read" if old is None else "is not as it was"
            raise TeamFault(
                Kind.CANDIDATE_STALE,
                f"{candidate.candidate_id} takes the place of {supersede.id}, which {state}.",
                f"Look at {root} with `lint`; then discard the candidate and stage again.",
            )
        yield FileChange(
            target_path=old.path,
            operation="write",
            data=_rendered(superseded(old.entry, candidate.memory_id), candidate.candidate_id),
            before=old.data,
            memory_id=supersede.id,
        )


def _entry_of(bound: Bound, one: Judged, payload: EntryPayload) -> Entry:
    judged = shown(one.assessments)
    repository = bound.binding.public_repository_identity
    scene = sanitised_line(payload.scene) if payload.scene else ""
    return Entry(
        id=one.candidate.memory_id,
        type=payload.type,
        status="approved",
        priority=payload.priority,
        confidence=payload.confidence,
        provenance_strength=judged.strength,
        claim_support=judged.support,
        limitations=tuple(sorted(judged.limitations)),
        scene=scene or None,
        occurred=tuple(sorted(set(payload.occurred))),
        evidence=EntryEvidence(
            commits=tuple(CommitRef(repo=repository, hash=commit) for commit in payload.commits),
            paths=payload.paths,
        ),
        body=sanitised(payload.content),
    )


def _rendered(entry: Entry, candidate_id: str) -> bytes:
    try:
        return render(entry)
    except ValueError as error:
        raise TeamFault(
            Kind.SANITIZATION_BLOCKED,
            f"{candidate_id} cannot be written as an entry: {error}",
            "Discard the candidate and stage it again without that.",
        ) from error


def _skill(root: str, payload: SkillPayload, tree: Tree) -> FileChange:
    skill = payload.skill
    path = f"{root}/{skill_path(skill.name)}"
    old = tree.skill(skill.name)
    if skill.action == "create":
        _vacant(path, skill.name, tree)
    elif old is None or old.digest != skill.expected_content_digest:
        state = "is gone or cannot be read" if old is None else "is not as it was"
        raise TeamFault(
            Kind.CANDIDATE_STALE, f"The skill {skill.name}, which is to be changed, {state}.", "Recall and stage again."
        )
    try:
        body = normal(sanitised(skill.body))
        data = render_skill(Skill(name=skill.name, description=sanitised_line(skill.description), body=body))
    except (ValueError, AnswerFault) as error:
        problem = f"The skill {skill.name} cannot be written: {error}"
        raise TeamFault(Kind.SANITIZATION_BLOCKED, problem, "Discard the candidate and stage it anew.") from error
    return FileChange(target_path=path, operation="write", data=data, before=old.data if old else None)


def _vacant(path: str, what: str, tree: Tree) -> None:
    """Raises TeamFault `target-drift` when something lies at a path, under that name or one that a file system may take
    for it."""
    for taken in _taken(tree):
        if taken.casefold() == path.casefold():
            raise TeamFault(
                Kind.TARGET_DRIFT,
                f"{what} would be written to {path}, and {taken} is there already.",
                "A file that exists is never overwritten: move it away, or discard the candidate and stage again.",
            )


def _taken(tree: Tree) -> Iterator[str]:
    yield from (file.path for file in tree.entries)
    yield from (file.path for file in tree.skills)
    yield from (fault.path for fault in tree.faults)


def room(files: Sequence[FileChange], tree: Tree) -> None:
    """Raises TeamFault `capacity-exceeded` when a plan would hold too much, or the memory would."""
    sizes = [len(file.data or b"") for file in files]
    new = [file for file in files if file.before is None and file.data is not None]
    entries, skills = (sum(f"/{part}/" in file.target_path for file in new) for part in ("entries", "skills"))
    for problem in (
        f"{len(files)} files; a plan has at most {MOST_FILES}" if len(files) > MOST_FILES else "",
        f"a file of {max(sizes, default=0)} bytes; {FILE_BYTES} are allowed"
        if max(sizes, default=0) > FILE_BYTES
        else "",
        f"{sum(sizes)} bytes; a plan has at most {PLAN_BYTES}" if sum(sizes) > PLAN_BYTES else "",
        f"more than {MOST_ENTRIES} entries" if entries and len(tree.entries) + entries > MOST_ENTRIES else "",
        f"more than {MOST_SKILLS} skills" if skills and len(tree.skills) + skills > MOST_SKILLS else "",
    ):
        if problem:
            raise TeamFault(Kind.CAPACITY_EXCEEDED, f"This would be {problem}.", "Review and prepare a part of it.")
