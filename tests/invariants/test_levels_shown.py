"""At which level a record is shown: by evidence, trust, kind and advice; and what each level shows of it."""

from typing import Any

import msgspec
import pytest

from governance.contracts import Action
from host.broker import lift
from host.render import block
from host.sanitise import LONGEST
from recall.contracts import ActivationLevel, ActivationRequest, MemoryKind, Origin, RecordState, Scored, Status
from tests.support.builders import a_memory_id, a_scored
from tests.support.packets import DRAFT, LONG, POLICY, built


def check_level(expected: ActivationLevel, scored: Scored, **more: Any) -> None:
    assert built(scored, **more).items[0].level is expected


def test_trust_and_confidence_set_the_level() -> None:
    check_level(ActivationLevel.EXCERPT, a_scored())
    check_level(ActivationLevel.HINT, a_scored(origin=Origin.EXTRACTED))
    check_level(ActivationLevel.HINT, a_scored(origin=Origin.IMPORTED))
    check_level(ActivationLevel.HINT, a_scored(state=RecordState.LEGACY, origin=Origin.IMPORTED))
    check_level(ActivationLevel.HINT, a_scored(), action=Action.FALLBACK)
    check_level(ActivationLevel.HINT, weighed(23.9, bar=16))
    check_level(ActivationLevel.EXCERPT, weighed(24.0, bar=16))
    check_level(ActivationLevel.HINT, weighed(5.0, bar=3.5))  # the other door, on its own scale
    check_level(ActivationLevel.EXCERPT, weighed(5.5, bar=3.5))
    check_level(ActivationLevel.HINT, a_scored(confidence=0.4))  # pinned: not weighed


def weighed(score: float, bar: float, **fields: Any) -> Scored:
    return msgspec.structs.replace(a_scored(**fields), score=score, bar=bar)


@pytest.mark.promise("reference-only")
@pytest.mark.parametrize("origin", list(Origin))
def test_a_section_of_a_file_is_a_hint_at_most_however_sure_we_are(origin: Origin) -> None:
    """It may be an instruction to an agent: it is told of, with where it stands, and never handed over as a text."""
    section = {"state": RecordState.LEGACY, "origin": origin, "title": "CLAUDE.md > Rules", "confidence": 1.0}
    sure = msgspec.structs.replace(a_scored("Never push to main.\n\nAsk first.", **section), score=99.0, bar=16.0)

    for level in (None, advice(ActivationLevel.FULL)):
        (item,) = built(sure, level=level).items
        assert (item.level, item.text, item.title) == (
            ActivationLevel.HINT,
            "Never push to main. Ask first.",
            "CLAUDE.md › Rules",  # a title cannot quote
        )
        assert "not reviewed" in item.why


def advice(level: ActivationLevel, **fields: Any) -> ActivationRequest:
    given: dict[str, Any] = {
        "procedure_id": a_memory_id(),
        "level": level,
        "similarity": 0.9,
        "hesitation": 0.0,
        "context_version": DRAFT.cursor.context_version,
        "memory_index_version": "idx_1",
        "reason": "alike",
    } | fields
    return ActivationRequest(**given)


def test_advice_is_taken_for_its_record_at_its_version_and_within_trust() -> None:
    check_level(ActivationLevel.INDEX, a_scored(title="T"), level=advice(ActivationLevel.INDEX))
    check_level(ActivationLevel.FULL, a_scored(), level=advice(ActivationLevel.FULL))
    check_level(ActivationLevel.HINT, a_scored(origin=Origin.EXTRACTED), level=advice(ActivationLevel.FULL))
    check_level(ActivationLevel.EXCERPT, a_scored(), level=advice(ActivationLevel.INDEX, context_version=4))
    check_level(ActivationLevel.EXCERPT, a_scored(), level=advice(ActivationLevel.INDEX, procedure_id="mem_x"))


STEPS = "Release the package:\n" + "\n".join(f"{n}. Do part {n} of the release." for n in range(1, 12))
PROCEDURE: dict[str, Any] = {"kind": MemoryKind.PROCEDURAL, "origin": Origin.REVIEWED}


def test_a_checklist_is_of_a_validated_active_procedure_and_has_at_most_eight_steps() -> None:
    (item,) = built(a_scored(STEPS, **PROCEDURE), level=advice(ActivationLevel.CHECKLIST)).items

    assert item.level is ActivationLevel.CHECKLIST
    assert item.text.split("\n")[0] == "Release the package:"
    assert item.text.split("\n")[1:] == [f"{n}. Do part {n} of the release." for n in range(1, 9)]
    assert item.cut


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("Tag it, then push the tag.", PROCEDURE, ActivationLevel.EXCERPT),  # no list
        (STEPS, PROCEDURE | {"kind": MemoryKind.SEMANTIC}, ActivationLevel.EXCERPT),
        (STEPS, PROCEDURE | {"status": Status.DEPRECATED}, ActivationLevel.EXCERPT),
        (STEPS, PROCEDURE | {"origin": Origin.EXTRACTED}, ActivationLevel.HINT),
        (STEPS, PROCEDURE | {"state": RecordState.LEGACY}, ActivationLevel.HINT),
    ],
)
def test_what_is_no_validated_procedure_falls_to_the_next_lower_level(
    text: str, fields: dict[str, Any], expected: ActivationLevel
) -> None:
    check_level(expected, a_scored(text, **fields), level=advice(ActivationLevel.CHECKLIST))


def test_a_checklist_is_bounded_by_its_characters_and_keeps_whole_steps() -> None:
    long = "Do it:\n" + "\n".join(f"- {n} {'step ' * 50}" for n in range(8))
    (item,) = built(a_scored(long, **PROCEDURE), level=advice(ActivationLevel.CHECKLIST)).items

    assert item.level is ActivationLevel.CHECKLIST
    assert 600 < len(item.text) <= 1_200
    assert all(line.endswith("step") for line in item.text.split("\n")[1:])


def test_a_resource_is_an_excerpt_with_a_reference_that_the_packet_lists() -> None:
    scored = a_scored(LONG, resource_ref="memory:mem_x")
    packet = built(scored, level=advice(ActivationLevel.RESOURCE))

    assert packet.items[0].level is ActivationLevel.RESOURCE
    assert packet.resource_refs == ("memory:mem_x",)
    assert f"whole: memory:mem_x v1 {scored.candidate.record_digest[:16]}" in packet.rendered
    assert len(block(packet.items[0], 1).encode()) <= POLICY.item_bytes
    check_level(ActivationLevel.EXCERPT, a_scored(LONG), level=advice(ActivationLevel.RESOURCE))  # nothing to fetch
    assert built(scored).resource_refs == ()


def test_a_whole_record_is_shown_when_it_fits_and_else_what_comes_below() -> None:
    whole = built(a_scored(LONG, resource_ref="memory:mem_x"), level=advice(ActivationLevel.FULL))
    too_long = a_scored(LONG * 3, resource_ref="memory:mem_x")

    assert whole.items[0].text == LONG.strip()
    assert (whole.items[0].level, whole.items[0].cut) == (ActivationLevel.FULL, False)
    check_level(ActivationLevel.RESOURCE, too_long, level=advice(ActivationLevel.FULL))
    check_level(ActivationLevel.EXCERPT, a_scored(LONG * 3), level=advice(ActivationLevel.FULL))


@pytest.mark.parametrize("blank", [" ", "\n", "\u200b"])
def test_what_stands_beyond_what_is_looked_at_is_no_whole_record(blank: str) -> None:
    """A lesson behind thousands of blanks was called shown whole, though nothing of it was."""
    scored = a_scored(blank * LONGEST + "The lesson.", title="Lesson")

    (item,) = built(scored, level=advice(ActivationLevel.FULL)).items

    assert (item.level, item.text, item.cut) == (ActivationLevel.EXCERPT, "", True)


def test_an_item_says_whether_its_record_holds_more() -> None:
    assert (
        not built(a_scored("Use pnpm.\nNever npm.", origin=Origin.EXTRACTED)).items[0].cut
    )  # only the line break went
    assert built(a_scored(LONG, origin=Origin.EXTRACTED)).items[0].cut
    assert built(a_scored(LONG)).items[0].cut
    assert built(a_scored(title="T"), level=advice(ActivationLevel.INDEX)).items[0].cut


def test_a_lifted_item_shows_more_and_says_that_it_was_raised() -> None:
    scored = a_scored(LONG)
    hint = built(msgspec.structs.replace(scored, score=17.0, bar=16.0)).items[0]

    more = lift(hint, scored.candidate, ActivationLevel.EXCERPT, POLICY)

    assert more is not None and more.raised and not hint.raised
    assert len(more.text) > len(hint.text)
    assert lift(more, scored.candidate, ActivationLevel.CHECKLIST, POLICY) is None  # it has no steps to show
    assert built(scored, again=frozenset({a_memory_id()})).items[0].raised


def test_a_hint_is_one_line_and_an_index_a_title() -> None:
    hint = built(a_scored("First line.\n\nSecond line.", origin=Origin.EXTRACTED)).items[0]
    index = built(a_scored("No title here.\nMore."), level=advice(ActivationLevel.INDEX)).items[0]

    assert hint.text == "First line. Second line."
    assert (index.text, index.title) == ("", "No title here. More.")
