"""Advice is checked before it is followed, and more of a record is shown once."""

from typing import Any

import msgspec
import pytest

from governance.contracts import Action, Rules
from governance.rules import CANDIDATE_RULES, PACKET_RULES
from host.contracts import Advice, PacketItem
from host.levels import Told, fetchable, heard, judged, may_rise, once_more, shows_more, told
from recall.activation import ActivationPolicy, Occasion
from recall.contracts import ActivationLevel, ActivationRequest, MemoryKind, Origin, Ranked, Risk, Scored
from tests.support.audience import INDEX, a_proposal, an_activation, an_audience
from tests.support.builders import a_candidate, a_memory_id, a_packet, a_scored, a_user_scope, an_item
from tests.support.clock import START

POLICY = ActivationPolicy()
RULES = Rules(candidate=CANDIDATE_RULES, packet=PACKET_RULES)
OCCASION = Occasion(context_version=1, index_version=INDEX)
SCORED = a_scored(resource_ref="memory://one")
EXCERPT = {"level": ActivationLevel.EXCERPT}


def asked(request: Any, scored: Scored = SCORED, occasion: Occasion = OCCASION, **audience: Any) -> Advice:
    def adviser(*_: object) -> Any:
        if isinstance(request, Exception):
            raise request
        return request

    return heard(adviser, scored, occasion, an_audience(scored.candidate, **audience), POLICY)


def test_advice_that_holds_is_followed() -> None:
    request = an_activation(**EXCERPT)

    assert asked(request) == Advice(memory_id=a_memory_id(), request=request)
    assert asked(None) == Advice(memory_id=a_memory_id())


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"procedure_id": "mem_x"}, "wrong-record"),
        ({"context_version": 2}, "stale-context"),
        ({"memory_index_version": "idx_0"}, "stale-index"),
        ({"similarity": 1.5}, "out-of-range"),
        ({"similarity": float("nan")}, "out-of-range"),
        ({"hesitation": -0.1}, "out-of-range"),
        ({"reason": "x" * 161}, "out-of-range"),
        ({"level": ActivationLevel.FULL}, "not-asked-for"),
        ({"level": "full"}, "not-asked-for"),  # a word that equals the level, and is none
        ({"level": "everything"}, "fault"),
        ({"context_version": True}, "fault"),
        ({"reason": ["x"]}, "fault"),
        ({"resource_ref": "memory://one"}, "stale-resource"),  # named in part
        ({"resource_ref": "memory://one", "resource_version": 1, "resource_digest": "0" * 64}, "stale-resource"),
    ],
)
def test_absurd_or_stale_advice_counts_as_none(fields: dict[str, Any], refused: str) -> None:
    assert asked(an_activation(**(EXCERPT | fields))) == Advice(memory_id=a_memory_id(), refused=refused)


@pytest.mark.parametrize("request_", [RuntimeError("broken"), "excerpt", 7])
def test_an_adviser_that_fails_is_no_failure(request_: Any) -> None:
    assert asked(request_) == Advice(memory_id=a_memory_id(), refused="fault")


def test_scope_trust_risk_and_cooldown_are_checked_again() -> None:
    request = an_activation(**EXCERPT)
    foreign = a_scored(scope=msgspec.structs.replace(a_user_scope(), key="another"))
    risky = a_scored(kind=MemoryKind.PROCEDURAL, risk_level=Risk.HIGH)

    assert asked(request, foreign).refused == "scope"
    assert asked(request, a_scored(origin=Origin.EXTRACTED)).refused == "above-trust"
    assert asked(request, risky).refused == "high-risk"
    assert asked(request, risky, approved=frozenset({a_memory_id()})).request == request
    assert asked(request, cooling=frozenset({a_memory_id()})).refused == "cooling"
    whole = an_activation(level=ActivationLevel.FULL)
    assert asked(whole, occasion=msgspec.structs.replace(OCCASION, asked=True)).request == whole


def judge_with(request: ActivationRequest, **audience: Any) -> tuple[Action, str, bool]:
    ranked = Ranked(ranked=(SCORED,))
    proposal = a_proposal(SCORED.candidate, activation=request, level=request.level)
    verdict, objection = judged(ranked, proposal, an_audience(SCORED.candidate, **audience), RULES, START)
    return verdict.action, objection, bool(verdict.kept)


@pytest.mark.parametrize(
    ("request_", "audience", "objection"),
    [
        (an_activation(**EXCERPT), {}, ""),
        (an_activation(), {}, "inactive-procedure"),  # a checklist of what is no procedure
        (an_activation(**EXCERPT, context_version=9), {}, "stale-activation"),
        (an_activation(**EXCERPT), {"cooling": frozenset({a_memory_id()})}, "activation-cooldown"),
        (an_activation(**EXCERPT, resource_ref="memory://one"), {}, "stale-resource"),
    ],
)
def test_the_ladder_checks_advice_again_and_shows_the_record_without_it(
    request_: ActivationRequest, audience: dict[str, Any], objection: str
) -> None:
    assert judge_with(request_, **audience) == (Action.ALLOW, objection, True)


def test_a_record_of_weak_origin_is_not_lost_to_advice_above_its_trust() -> None:
    weak = a_scored(origin=Origin.IMPORTED)
    request = an_activation(level=ActivationLevel.RESOURCE)
    proposal = a_proposal(weak.candidate, activation=request, level=request.level)
    audience = an_audience(weak.candidate, level=request.level)

    verdict, objection = judged(Ranked(ranked=(weak,)), proposal, audience, RULES, START)

    assert (objection, len(verdict.kept)) == ("trust-level", 1)


def test_what_objects_to_the_packet_itself_stays_an_objection() -> None:
    assert judge_with(an_activation(**EXCERPT), surface_available=False) == (Action.SUPPRESS, "", False)


# ------------------------------------------------------------------------------------------------ shown once more


def a_told(**fields: Any) -> Told:
    given = {"level": ActivationLevel.HINT, "cut": True, "raised": False, "hesitation": 0.1, "failed": True} | fields
    return Told(**given)


AGAIN = {"repeated-failure": 1.0, "tool-failure": 1.0, "hesitation": 0.5}


@pytest.mark.parametrize(
    ("one", "signals", "may"),
    [
        (a_told(), AGAIN, True),
        (a_told(), AGAIN | {"hesitation": 0.3}, False),  # it has not risen enough
        (a_told(), AGAIN | {"repeated-failure": 0.0}, False),
        (a_told(), AGAIN | {"tool-failure": 0.0}, False),  # a call about to be made, not its failure
        (a_told(cut=False), AGAIN, False),
        (a_told(raised=True), AGAIN, False),
        (a_told(failed=False), AGAIN, False),
        (a_told(level=ActivationLevel.EXCERPT), AGAIN, False),
    ],
)
def test_a_cut_hint_may_be_shown_once_more_when_the_same_failure_comes_with_more_hesitation(
    one: Told, signals: dict[str, float], may: bool
) -> None:
    assert once_more({"mem_1": one}, signals, POLICY) == ({"mem_1": ActivationLevel.HINT} if may else {})


def test_a_window_remembers_how_it_was_told() -> None:
    packet = a_packet(
        items=(an_item(level=ActivationLevel.HINT, cut=True),), hesitation=0.4, trigger_reason="tool-failure"
    )

    first = told(packet, {})
    second = told(packet, first)

    assert first == {a_memory_id(): a_told(hesitation=0.4)}
    assert second[a_memory_id()].raised  # given twice, however it came about: enough


@pytest.mark.parametrize(
    ("item", "one", "more"),
    [
        (an_item(raised=True), a_told(), True),
        (an_item(raised=True), a_told(raised=True), False),
        (an_item(raised=True, level=ActivationLevel.HINT), a_told(), False),
        (an_item(), a_told(), False),
        (an_item(raised=True), None, False),
    ],
)
def test_only_a_raised_item_that_shows_more_is_not_visible_already(
    item: PacketItem, one: Told | None, more: bool
) -> None:
    assert shows_more(item, {} if one is None else {a_memory_id(): one}) is more


@pytest.mark.parametrize(
    ("item", "hesitation", "may"),
    [
        (an_item(cut=True), 0.5, True),
        (an_item(cut=True), 0.3, False),
        (an_item(), 1.0, False),
        (an_item(cut=True, raised=True), 1.0, False),
    ],
)
def test_a_packet_that_waits_may_show_more_of_its_first_item(item: PacketItem, hesitation: float, may: bool) -> None:
    packet = a_packet(items=(item,), hesitation=0.2)

    assert may_rise(packet, packet.items, hesitation, POLICY) is may
    assert not may_rise(packet, (), 1.0, POLICY)


def test_a_record_can_be_fetched_by_its_anchor_unless_it_has_another_name() -> None:
    ranked = Ranked(ranked=(a_scored(), a_scored(memory_id=a_memory_id(2), resource_ref="file://x")))

    assert [one.candidate.resource_ref for one in fetchable(ranked).ranked] == [f"memory:{a_memory_id()}", "file://x"]
    assert a_candidate().resource_ref is None
