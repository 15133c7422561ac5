"""What a patch of scenes and doctrine may do, and the heat that comes of it (team.md 10). Pure.

Theory of operation: below twelve scenes a patch may create one. At twelve and thirteen merging is preferred, and what
is created says why it cannot fit. At fourteen nothing is created, and from fifteen on a patch must end below fifteen.
A file has one writer a patch. The whole patch is refused on any violation: what is left of it might say the opposite.
"""

from collections.abc import Mapping

import msgspec

from governance.formation import doctexts
from governance.formation.contracts import DocumentKind
from governance.formation.errors import AnswerFault
from governance.team import heat
from governance.team.contracts.consolidating import PatchOperation
from governance.team.contracts.rows import ConsolidationPayload, SceneHeat
from governance.team.contracts.staging import Statement
from governance.team.errors import Kind, TeamFault
from governance.team.files import DOCTRINE, SCENE_NAME, SUMMARY, scene_path
from governance.team.patching import cited, doctrine_digest, found, revisions, statement_texts
from governance.team.trees import SceneFile, Tree
from recall.contracts import Frozen, Millis
from recall.team_front import EntryFault, read_front

CREATES = 1  # a patch
CROWDED, FULL, OVER = 12, 14, 15
CANNOT_FIT = "cannot fit"
MOST_OPERATIONS = 64
OPERATION_ID = 200
_DOCTRINE_NAMES = ("", "doctrine", DOCTRINE)


class Begun(Frozen, frozen=True, kw_only=True):
    """The run that a patch belongs to. `at`: of staging."""

    run_id: str
    at: Millis


def proposed(
    operations: tuple[PatchOperation, ...], entries: Mapping[str, str], tree: Tree, begun: Begun
) -> ConsolidationPayload:
    """What a patch is as a candidate. `entries`: digests of those that its task offered, by id.

    Raises TeamFault: `schema-invalid`, `capacity-exceeded`, `sanitization-blocked`.
    """
    if len(operations) > MOST_OPERATIONS:
        raise _refused(f"A patch has at most {MOST_OPERATIONS} operations.")
    bench = _Bench(entries, tree)
    taken = tuple(bench.take(operation) for operation in operations)
    bench.check_room()
    payload = ConsolidationPayload(
        run_id=begun.run_id,
        operations=taken,
        heat=tuple(bench.heat),
        scenes=tuple(sorted(revisions(tree).items())),
        doctrine_digest=doctrine_digest(tree.doctrine),
        statements=(),
        entries=cited(taken, entries),
        at=begun.at,
    )
    texts = statement_texts(payload, tree)
    statements = tuple(
        Statement(statement_id=one.operation_id, text=texts[one.operation_id], evidence_ids=one.based_on_entry_ids)
        for one in taken
    )
    return msgspec.structs.replace(payload, statements=statements)


class _Bench:
    """A patch at work: what each operation makes of the scenes, one after the other."""

    def __init__(self, entries: Mapping[str, str], tree: Tree) -> None:
        self._entries = entries
        self._tree = tree
        self._ids: set[str] = set()
        self._writers: dict[str, str] = {}  # by path
        self._created = 0
        self._made = 0
        self._gone = 0
        self.heat: list[SceneHeat] = []

    def take(self, operation: PatchOperation) -> PatchOperation:
        """The operation, normalised. Raises TeamFault."""
        name = operation.operation_id
        if not name.strip() or len(name) > OPERATION_ID or name in self._ids:
            raise _refused(f"The operation id {name[:60]!r} is empty, too long, or there twice.")
        self._ids.add(name)
        try:
            return self._taken(operation)
        except AnswerFault as fault:
            raise _refused(f"Operation {name!r}: {fault.problem}") from fault
        except TeamFault as fault:
            raise TeamFault(fault.kind, f"Operation {name!r}: {fault.problem}", fault.next_step) from fault

    def check_room(self) -> None:
        """Raises TeamFault when there would be too many scenes."""
        at_first = len(self._tree.scenes)
        left = at_first + self._made - self._gone
        if at_first >= OVER and left >= OVER:
            problem = f"There are {at_first} scenes, and {left} after this patch: it must end below {OVER}."
            raise TeamFault(Kind.CAPACITY_EXCEEDED, problem, "Merge scenes, or delete those that hold no longer.")

    def _taken(self, operation: PatchOperation) -> PatchOperation:
        if strange := [one for one in operation.based_on_entry_ids if one not in self._entries]:
            raise _refused(f"{strange[0][:60]!r} is no entry of this task.")
        if len(set(operation.based_on_entry_ids)) != len(operation.based_on_entry_ids):
            raise _refused("An entry is named twice.")
        if (operation.new_content is None) is not (operation.op == "delete"):
            raise _refused("A delete has no newContent, and everything else has one.")
        if operation.merge_sources and operation.op != "merge":
            raise _refused("Only a merge has mergeSources.")
        why = doctexts.rationale(operation.rationale) if operation.rationale.strip() else ""
        operation = msgspec.structs.replace(operation, rationale=why)
        return self._doctrine(operation) if operation.target == "doctrine" else self._scene(operation)

    def _doctrine(self, operation: PatchOperation) -> PatchOperation:
        if operation.name not in _DOCTRINE_NAMES:
            raise _refused(f"The doctrine is named `doctrine`, not {operation.name[:60]!r}.")
        if operation.op == "merge":
            raise _refused("The doctrine is never merged.")
        self._writing(DOCTRINE, operation)
        exists = self._tree.doctrine is not None
        if exists is (operation.op == "create"):
            raise _refused("There is a doctrine: update it." if exists else "There is no doctrine: create it.")
        said = operation.new_content
        body = None if said is None else doctexts.body(said, DocumentKind.DOCTRINE)
        was = self._tree.doctrine
        if was is not None and body == was.doctrine.body:
            raise _refused("The doctrine says just that already.")
        return msgspec.structs.replace(operation, name="doctrine", new_content=body, summary="")

    def _scene(self, operation: PatchOperation) -> PatchOperation:
        name = doctexts.line(operation.name, SCENE_NAME, "the name")
        before = found(self._tree, name)
        if operation.op == "create":
            self._room(operation, before)
        elif operation.op == "merge":
            operation = self._merging(operation, before)
        elif before is None:
            raise _refused(f"There is no scene {name[:60]!r}.")
        name = name if before is None else before.scene.name
        self._writing(scene_path(name), operation)
        operation = msgspec.structs.replace(operation, name=name)
        if operation.op == "delete":
            self._gone += 1
            return msgspec.structs.replace(operation, summary="")
        return self._written(operation, before)

    def _written(self, operation: PatchOperation, before: SceneFile | None) -> PatchOperation:
        summary, said = _front(operation)
        body = doctexts.body(said, DocumentKind.SCENE)
        if not summary and before is not None and operation.op == "update":
            summary = before.scene.summary
        summary = doctexts.line(summary or _first_words(body), SUMMARY, "the summary")
        if operation.op == "update" and before is not None and (summary, body) == _said(before):
            raise _refused("The scene says just that already.")
        self.heat.append(SceneHeat(name=operation.name, heat=self._heat(operation, before)))
        return msgspec.structs.replace(operation, new_content=body, summary=summary)

    def _room(self, operation: PatchOperation, before: SceneFile | None) -> None:
        """Raises TeamFault when no scene may be created."""
        if before is not None:
            raise _refused("There is a scene of that name: update it, or take another name.")
        at_first = len(self._tree.scenes)
        if at_first >= FULL:
            problem = f"There are {at_first} scenes: from {FULL} on none is created."
            raise TeamFault(Kind.CAPACITY_EXCEEDED, problem, "Merge scenes, or put it into one that there is.")
        if at_first >= CROWDED and CANNOT_FIT not in operation.rationale.lower():
            problem = f"There are {at_first} scenes: merging is preferred."
            next_step = f"Merge, or say in the rationale why it {CANNOT_FIT} into a scene that there is."
            raise TeamFault(Kind.CAPACITY_EXCEEDED, problem, next_step)
        if self._created >= CREATES:
            raise TeamFault(Kind.CAPACITY_EXCEEDED, "A patch creates one scene.", "Put the rest into those there are.")
        self._created += 1
        self._made += 1

    def _merging(self, operation: PatchOperation, before: SceneFile | None) -> PatchOperation:
        """A merge with its sources by the names that they have. Raises TeamFault."""
        sources = [found(self._tree, name) for name in operation.merge_sources]
        known = [one for one in sources if one is not None]
        if len(known) != len(sources):
            raise _refused("A source of the merge is no scene.")
        if len({one.path for one in known}) < 2 or len({one.path for one in known}) != len(known):
            raise _refused("A merge has two different scenes or more as its sources.")
        if before is not None and before not in known:
            raise _refused("What is merged becomes a new scene, or one of the sources.")
        target = before.scene.name if before is not None else operation.name
        for one in known:
            if one is not before:
                self._writing(scene_path(one.scene.name), operation)
        self._gone += len(known) - (before is not None)
        self._made += before is None
        names = tuple(sorted(one.scene.name for one in known))
        return msgspec.structs.replace(operation, name=target, merge_sources=names)

    def _heat(self, operation: PatchOperation, before: SceneFile | None) -> int:
        match operation.op:
            case "merge":
                sources = [found(self._tree, name) for name in operation.merge_sources]
                return heat.merged([one.scene.heat for one in sources if one is not None])
            case "update" if before is not None:
                return heat.updated(before.scene.heat)
            case _:
                return heat.created()

    def _writing(self, path: str, operation: PatchOperation) -> None:
        """Raises TeamFault when the file has a writer already."""
        if path in self._writers:
            raise _refused(f"{path} is written by operation {self._writers[path]!r} already: one writer a file.")
        if any(fault.path.endswith(f"/{path}") for fault in self._tree.faults):
            raise _refused(f"{path} stands in the repository and cannot be read: `lint` says why.")
        self._writers[path] = operation.operation_id


def _front(operation: PatchOperation) -> tuple[str, str]:
    """The summary and the body that an operation gives. A scene may be given with a front matter that says `summary`
    and nothing else: all the rest of it is counted here."""
    said = doctexts.normal(operation.new_content or "")
    if not said.startswith("---\n"):
        return operation.summary, said
    front = read_front(said.encode(), ("summary",))
    if isinstance(front, EntryFault):
        problem = (
            f"The front matter of a scene may say `summary` alone; times and heat are counted here. {front.problem}"
        )
        raise _refused(problem)
    return str(front.values["summary"]), front.body


def _first_words(body: str) -> str:
    """A summary of a scene that was given without one: how its text begins."""
    first = next((row.strip(" #*-\t") for row in body.split("\n") if row.strip(" #*-\t")), body)
    return " ".join(first.split())[:SUMMARY].strip()


def _said(scene: SceneFile) -> tuple[str, str]:
    return scene.scene.summary, scene.scene.body


def _refused(problem: str) -> TeamFault:
    return TeamFault(Kind.SCHEMA_INVALID, problem, "Mend the operation, and stage the whole patch again.")
