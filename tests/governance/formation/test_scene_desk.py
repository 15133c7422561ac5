"""Scenes at work: caps, heat, evidence, and one writer a document."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.contracts import AtomEvidence, ChangeOp, Document, DocumentMeta, DocumentVersion
from governance.formation.docform import document_digest
from governance.formation.errors import AnswerFault
from governance.formation.scene_desk import CANNOT_FIT, HOTTEST, SceneDesk, together
from tests.support.clock import START
from tests.support.drafting import Json, a_scene, an_atom, creates, l2, updates

NOW = START + 1_000


def a_desk(*scenes: Document, **fields: Any) -> SceneDesk:
    desk = SceneDesk(l2(*scenes, **fields), NOW)
    desk.read_all()
    return desk


def use(desk: SceneDesk, step: Json) -> Any:
    return desk.used(step["tool"], step["arguments"])


def refused(desk: SceneDesk, step: Json) -> str:
    with pytest.raises(AnswerFault) as fault:
        use(desk, step)
    return fault.value.code


def merges(*scenes: Document, into: str, **other: Any) -> Json:
    given = {"sources": [one.id for one in scenes], "into": into, "summary": "Both", "content": "Both at once."}
    why = {"evidence": [scenes[0].evidence[0].id], "rationale": "They are one."}
    return {"tool": "merge", "arguments": given | why | other}


def retires(scene: Document, **other: Any) -> Json:
    given = {"id": scene.id, "evidence": [scene.evidence[0].id], "rationale": "It holds no longer."}
    return {"tool": "retire", "arguments": given | other}


def crowd(number: int) -> tuple[Document, ...]:
    return tuple(a_scene(one) for one in range(1, number + 1))


def heat_of(desk: SceneDesk) -> int:
    (change,) = desk.changes
    assert change.after is not None
    return change.after.meta.heat


def test_a_new_scene_is_born_with_heat_one_and_what_it_rests_on() -> None:
    desk = a_desk()

    use(desk, creates())

    (change,) = desk.changes
    assert change.after is not None and change.op is ChangeOp.CREATE and change.before == ()
    assert (change.after.version, change.after.meta) == (
        1,
        DocumentMeta(created=NOW, updated=NOW, summary="How releases go", heat=1),
    )
    assert change.evidence == change.after.evidence == (AtomEvidence(id=an_atom().id, version=2),)
    assert change.rationale == "The lesson is about this."


def test_heat_is_counted() -> None:
    changed, merged = a_desk(a_scene(5)), a_desk(a_scene(3), a_scene(4))
    use(changed, updates(a_scene(5)))
    use(merged, merges(a_scene(3), a_scene(4), into="Three and four"))

    assert (heat_of(changed), heat_of(merged)) == (6, 8)


def test_heat_that_cannot_be_counted_is_refused() -> None:
    hot = a_scene(1, meta=DocumentMeta(summary="x", heat=HOTTEST))
    nearly = a_scene(2, meta=DocumentMeta(summary="x", heat=HOTTEST - 1))
    desk = a_desk(hot, nearly)

    assert refused(desk, updates(hot)) == "capacity-exceeded"
    assert refused(desk, merges(hot, nearly, into=hot.id)) == "capacity-exceeded"
    use(desk, updates(nearly))
    assert heat_of(desk) == HOTTEST


def test_an_update_keeps_what_it_does_not_say() -> None:
    scene = a_scene(2, version=6)
    desk = a_desk(scene)

    use(desk, updates(scene))

    (change,) = desk.changes
    assert change.after is not None
    assert (change.after.version, change.after.meta.summary, change.after.meta.created) == (7, "About scene 2", START)
    assert change.before[0].digest == document_digest(scene) and change.before[0].version == 6
    assert {one.id for one in change.after.evidence} == {scene.evidence[0].id, an_atom().id}
    assert [one.id for one in change.evidence] == [an_atom().id]


@pytest.mark.parametrize(
    ("scenes", "rationale", "allowed"),
    [
        (0, "Nothing is there.", True),
        (11, "Plain.", True),
        (12, "Plain.", False),
        (12, f"It {CANNOT_FIT} into any.", True),
        (13, f"It {CANNOT_FIT.title()} into any.", True),
        (14, f"It {CANNOT_FIT} into any.", False),
        (15, f"It {CANNOT_FIT} into any.", False),
    ],
)
def test_a_scene_more_is_allowed_by_how_many_there_are(scenes: int, rationale: str, allowed: bool) -> None:
    desk, step = a_desk(*crowd(scenes)), creates(rationale=rationale)

    if allowed:
        assert use(desk, step)["scenes"] == scenes + 1
    else:
        assert refused(desk, step) == "capacity-exceeded"


def test_a_run_creates_one_scene() -> None:
    desk = a_desk()
    use(desk, creates("One"))

    assert refused(desk, creates("Two")) == "capacity-exceeded"


@pytest.mark.parametrize("scenes", [15, 16])
def test_from_fifteen_on_a_run_ends_with_fewer(scenes: int) -> None:
    desk, every = a_desk(*crowd(scenes)), crowd(scenes)
    submit: Json = {"tool": "submit", "arguments": {}}

    assert refused(desk, submit) == "capacity-exceeded"
    use(desk, merges(*every[: scenes - 13], into=every[0].id))
    assert use(desk, submit) == {"done": True}


def test_fourteen_scenes_may_stay_fourteen() -> None:
    assert use(a_desk(*crowd(14)), {"tool": "submit", "arguments": {}}) == {"done": True}


def test_a_merge_takes_the_place_of_its_sources() -> None:
    one, two, three = crowd(3)
    desk = a_desk(one, two, three)

    use(desk, merges(one, two, into=two.id))

    (change,) = desk.changes
    assert change.after is not None and (change.op, change.document_id) == (ChangeOp.MERGE, two.id)
    assert [was.id for was in change.before] == [one.id, two.id]
    assert (change.after.name, change.after.version, change.after.meta.heat) == ("Scene 2", 2, 4)
    assert {rests.id for rests in change.after.evidence} == {one.evidence[0].id, two.evidence[0].id}


@pytest.mark.parametrize("sources", [[], ["one"], ["one", "one"]])
def test_a_merge_needs_two_scenes(sources: list[str]) -> None:
    one = a_scene(1)
    ids = [one.id for _ in sources]

    assert refused(a_desk(one), merges(one, into=one.id, sources=ids)) == "schema"


def test_each_scene_is_written_once_a_run() -> None:
    one, two, three = crowd(3)
    desk = a_desk(one, two, three)
    use(desk, merges(one, two, into=one.id))

    assert [refused(desk, step) for step in (updates(one), retires(two), merges(two, three, into=three.id))] == [
        "already-written"
    ] * 3
    assert use(desk, retires(three))["scenes"] == 1


def test_a_scene_is_changed_only_after_it_was_read() -> None:
    one, two = crowd(2)
    desk = SceneDesk(l2(one, two), NOW)
    desk.used("list", {})

    assert [refused(desk, step) for step in (updates(one), retires(one), merges(one, two, into=one.id))] == [
        "not-read"
    ] * 3
    desk.used("read", {"id": one.id})
    use(desk, updates(one))
    assert desk.read_set == tuple(
        DocumentVersion(id=scene.id, version=1) for scene in sorted((one, two), key=lambda scene: scene.id)
    )


def test_a_change_rests_on_memories_of_the_run_and_says_why() -> None:
    one = a_scene(1)
    desk = a_desk(one)

    assert refused(desk, creates(evidence=[])) == "no-evidence"
    assert refused(desk, creates(evidence=[an_atom().id, "note_else"])) == "unknown-evidence"
    assert refused(desk, updates(one, rationale="  ")) == "empty"
    assert refused(desk, retires(one, evidence=[])) == "no-evidence"
    assert desk.changes == ()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"content": ""}, "empty"),
        ({"content": "x" * 1501}, "over-limit"),
        ({"summary": "x" * 41}, "over-limit"),
        ({"name": "x" * 65}, "over-limit"),
        ({"name": "two\nlines"}, "schema"),
        ({"heat": 9}, "schema"),
        ({"content": "heat: 9"}, "forged"),
        ({"content": 5}, "schema"),
        ({"name": "scene  1"}, "name-taken"),
    ],
)
def test_a_scene_that_is_none_is_refused(fields: Json, code: str) -> None:
    assert refused(a_desk(a_scene(1)), creates(**fields)) == code


def test_what_changes_nothing_is_no_change() -> None:
    one = a_scene(1)

    assert refused(a_desk(one), updates(one, content=one.content)) == "no-change"


def test_what_is_new_is_listed() -> None:
    desk = a_desk(a_scene(1))
    use(desk, creates())

    listed = desk.used("list", {})["scenes"]

    assert isinstance(listed, list) and [one["name"] for one in listed] == ["Scene 1", "Releases"]
    assert desk.used("search", {"query": "checks"})["scenes"] and refused(desk, {"tool": "search", "arguments": {}})


def test_each_source_counts_once_in_its_newest_version() -> None:
    first = (AtomEvidence(id="a", version=3), AtomEvidence(id="b", version=1))
    later = (AtomEvidence(id="a", version=2), AtomEvidence(id="b", version=5))

    assert together(first, later) == (AtomEvidence(id="a", version=3), AtomEvidence(id="b", version=5))
    assert together() == ()


STEPS = st.lists(
    st.one_of(
        st.builds(lambda n: creates(f"New {n}", rationale=f"It {CANNOT_FIT}."), st.integers(0, 3)),
        st.builds(lambda n: updates(a_scene(n)), st.integers(1, 17)),
        st.builds(lambda n: retires(a_scene(n)), st.integers(1, 17)),
        st.builds(
            lambda some, n: merges(*map(a_scene, some), into=a_scene(n).id),
            st.lists(st.integers(1, 17), min_size=2, max_size=5),
            st.integers(1, 17),
        ),
    ),
    max_size=25,
)


@given(st.integers(0, 17), STEPS)
def test_whatever_a_run_tries_the_rules_hold(number: int, steps: list[Json]) -> None:
    every = {one.id: one for one in crowd(number)}
    desk = a_desk(*every.values())
    for step in steps:
        with suppress(AnswerFault):
            use(desk, step)
    try:
        submitted = bool(use(desk, {"tool": "submit", "arguments": {}}))
    except AnswerFault:
        submitted = False

    written = [one for change in desk.changes for one in {change.document_id, *(was.id for was in change.before)}]
    assert len(written) == len(set(written))  # one writer a scene
    left = set(every)
    for change in desk.changes:
        left -= {was.id for was in change.before}
        if change.after is not None:
            left.add(change.after.id)
            assert change.after.meta.heat == sum(every[was.id].meta.heat for was in change.before) + 1
        assert change.evidence and change.rationale
    made = [change for change in desk.changes if change.op is ChangeOp.CREATE]
    assert len(made) <= (1 if number < 14 else 0)
    assert submitted == (number < 15 or len(left) < 15)
