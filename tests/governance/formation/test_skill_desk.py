"""Skills at work: what may be written, what lies beside it, and what is not ours."""

from typing import Any

import pytest

from governance.formation.contracts import AtomEvidence, ChangeOp, Document, DocumentVersion, EvidenceRef
from governance.formation.errors import AnswerFault
from governance.formation.skill_desk import MOST_SKILLS, SkillDesk
from tests.support.clock import START
from tests.support.drafting import Json, SkillShelf, a_resource, a_skill
from tests.support.noting import SCOPE, TOKEN, a_message

ONE, TWO = a_message(1), a_message(2, evidence=(EvidenceRef(id="e2", version=3),))
RELEASE = a_skill(resources=("check.sh", "notes/a.md"))
BESIDE = (a_resource(RELEASE.name, "check.sh"), a_resource(RELEASE.name, "notes/a.md", "Notes.\n"))
WHY: Json = {"evidence": ["m2"], "rationale": "It took three tries."}


def a_desk(*documents: Document) -> SkillDesk:
    return SkillDesk(SCOPE, [ONE, TWO], SkillShelf(*documents), START + 5)


async def refused(desk: SkillDesk, tool: str, **given: Any) -> str:
    with pytest.raises(AnswerFault) as fault:
        await desk.use(tool, WHY | given)
    return fault.value.code


def a_new(**other: Any) -> Json:
    return WHY | {"name": "seal-the-build", "description": "Seals it.", "body": "1. `make seal`"} | other


async def test_a_skill_and_what_lies_beside_it_are_made_together() -> None:
    desk = a_desk()
    resources = [{"path": "scripts/seal.sh", "content": "make seal  \r\n"}]

    await desk.use("create", a_new(resources=resources))

    skill, beside = desk.changes
    assert skill.after is not None and beside.after is not None
    assert (skill.after.name, skill.after.meta.summary, skill.after.resources) == (
        *("seal-the-build", "Seals it."),
        ("scripts/seal.sh",),
    )
    assert (beside.after.name, beside.after.content) == ("seal-the-build/scripts/seal.sh", "make seal  \n")
    assert skill.evidence == beside.evidence == (AtomEvidence(id="e2", version=3),)
    assert skill.op is beside.op is ChangeOp.CREATE and desk.read_set == ()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": "Seal"}, "schema"),
        ({"name": RELEASE.name}, "name-taken"),
        ({"description": "a\nb"}, "schema"),
        ({"body": " "}, "empty"),
        ({"body": TOKEN}, "secret"),
        ({"evidence": []}, "no-evidence"),
        ({"evidence": ["m9"]}, "unknown-evidence"),
        ({"rationale": ""}, "empty"),
        ({"resources": [{"path": "../x", "content": ""}]}, "path"),
        ({"resources": [{"path": "a", "content": ""}, {"path": "A", "content": ""}]}, "path"),
        ({"resources": [{"path": "a", "content": TOKEN}]}, "secret"),
        ({"resources": [{"path": "a", "content": None}]}, "unknown-document"),
        ({"resources": [{"path": str(n), "content": ""} for n in range(17)]}, "over-limit"),
        ({"resources": [{"path": "a", "content": "x" * 262_145}]}, "over-limit"),
        ({"more": 1}, "schema"),
    ],
)
async def test_a_skill_that_is_none_is_refused(fields: Json, code: str) -> None:
    desk = a_desk(RELEASE)

    assert await refused(desk, "create", **(a_new() | fields)) == code
    assert desk.changes == ()


async def test_sixteen_resources_of_a_quarter_of_a_mebibyte_are_taken() -> None:
    resources = [{"path": f"{n}.txt", "content": "x" * (262_144 // 16)} for n in range(16)]
    desk = a_desk()

    assert await desk.use("create", a_new(resources=resources)) == {"id": desk.changes[0].document_id, "resources": 16}


async def test_an_update_says_what_is_other_and_keeps_the_rest() -> None:
    desk = a_desk(RELEASE, *BESIDE)
    await desk.use("read", {"id": RELEASE.id})
    await desk.use("read", {"id": RELEASE.id, "path": "check.sh"})

    assert (
        await refused(desk, "update", id=RELEASE.id, resources=[{"path": "notes/a.md", "content": "x"}]) == "not-read"
    )
    await desk.use("update", WHY | {"id": RELEASE.id, "resources": [{"path": "check.sh", "content": None}]})

    skill, beside = desk.changes
    assert skill.after is not None and (skill.after.content, skill.after.version) == (RELEASE.content, 2)
    assert skill.after.resources == ("notes/a.md",)
    assert (beside.op, beside.document_id, beside.after) == (ChangeOp.RETIRE, BESIDE[0].id, None)
    seen = sorted([RELEASE.id, BESIDE[0].id])
    assert sorted(one.id for one in desk.read_set) == seen and desk.read_set[0].version == 1
    assert await refused(desk, "update", id=RELEASE.id, body="x") == "already-written"


async def test_a_resource_that_is_given_again_counts_once() -> None:
    beside = a_resource(RELEASE.name, "check.sh", "x" * 200_000)
    desk = a_desk(a_skill(resources=("check.sh",)), beside)
    for path in (None, "check.sh"):
        await desk.use("read", {"id": RELEASE.id, "path": path})
    fresh = {"path": "b.txt", "content": "y" * 100_000}

    assert await refused(desk, "update", id=RELEASE.id, resources=[fresh]) == "over-limit"
    smaller = {"path": "check.sh", "content": "z" * 100_000}
    await desk.use("update", WHY | {"id": RELEASE.id, "resources": [fresh, smaller]})
    assert len(desk.changes) == 3


async def test_what_is_not_ours_is_read_and_not_changed() -> None:
    desk = a_desk(a_skill(writable=False), a_skill("other-one"))
    await desk.use("read", {"id": a_skill().id})
    await desk.use("read", {"id": a_skill("other-one").id})

    assert await refused(desk, "update", id=a_skill().id, body="x") == "not-writable"
    await desk.use("update", WHY | {"id": a_skill("other-one").id, "body": "Else."})

    (diagnostic,) = desk.refused
    assert (diagnostic.code, diagnostic.ids, diagnostic.count) == ("not-writable", (a_skill().id,), 1)
    assert [change.document_id for change in desk.changes] == [a_skill("other-one").id]


async def test_looking_is_seen_and_nothing_is_changed_unread() -> None:
    desk = a_desk(RELEASE, a_skill("other-one"))

    assert len((await desk.use("search", {"query": "other"}))["skills"]) == 1  # type: ignore[arg-type]  # a list
    assert desk.read_set == (DocumentVersion(id=a_skill("other-one").id, version=1),)
    assert len((await desk.use("list", {}))["skills"]) == 2  # type: ignore[arg-type]  # a list
    assert await refused(desk, "update", id=RELEASE.id, body="x") == "not-read"
    for given in ({"id": "doc_none"}, {"id": RELEASE.id, "path": "gone.sh"}):
        with pytest.raises(AnswerFault):
            await desk.use("read", given)
    assert await desk.use("submit", {}) == {"done": True}


async def test_there_is_an_end_to_how_many_skills_there_are() -> None:
    desk = a_desk(*(a_skill(f"skill-{n}") for n in range(MOST_SKILLS)))

    assert await refused(desk, "create", **a_new()) == "capacity-exceeded"


async def test_what_changes_nothing_is_no_change() -> None:
    desk = a_desk(RELEASE, *BESIDE)
    await desk.use("read", {"id": RELEASE.id})
    await desk.use("read", {"id": RELEASE.id, "path": "check.sh"})
    same = [{"path": "check.sh", "content": BESIDE[0].content}]

    assert await refused(desk, "update", id=RELEASE.id, body=RELEASE.content, resources=same) == "no-change"
