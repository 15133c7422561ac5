"""The confidence gate: chance-corrected mass, agreement, one absolute bar."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from recall.analyzer import distinct
from recall.background import Background
from recall.confidence import Bar, ConfidencePolicy, aged, confident, tally, things
from recall.contracts import Cue, Noise, Ranked, Scored, SegmentKind, TermStatistics
from tests.support.builders import a_cue, a_memory_id, a_scored

RECORD = (
    "mise run lint refuses os.Create with a path from the environment (gosec G304) and an unchecked f.Close (G104)."
)
FAILURE = (
    "cmd/cli/trace.go:41: G304: file inclusion via os.Create (gosec)\ncmd/cli/trace.go:44: G104: f.Close unchecked"
)
OTHER = "The mailer runs on port 2525."
BAR = Bar(ConfidencePolicy(), Background({"run": 50, "file": 80, "test": 70}, 10_000))


def cue_of(text: str, focus: str | None = None) -> Cue:
    return a_cue(text, segment_kind=SegmentKind.RESULT, focus=distinct(text if focus is None else focus))


def noise_of(*texts: str, agree: dict[str, float] | None = None, total: int = 0) -> Noise:
    counts: dict[str, int] = {}
    added = sum(tally(counts, distinct(text)) for text in texts)
    return Noise(counts=counts, total=max(added, total), agree=agree or {})


def ask(cue: Cue, *records: Scored, noise: Noise | None = None, told: str = "", **policy: Any) -> Ranked:
    counts: dict[str, int] = {}
    for record in records:
        tally(counts, record.candidate.terms)
    statistics = TermStatistics(total=100, counts=counts)
    ranked = Ranked(ranked=records, told=frozenset(distinct(told)))
    bar = Bar(structs.replace(BAR.policy, **policy), BAR.background)
    return confident(ranked, cue, noise or noise_of(FAILURE, total=500), statistics, bar)


def the(text: str, number: int = 1) -> Scored:
    return a_scored(text, memory_id=a_memory_id(number))


def test_a_failure_that_a_record_explains_opens_the_door_for_it_alone() -> None:
    sure = ask(cue_of(FAILURE), the(OTHER, 1), the(RECORD, 2))
    assert [one.candidate.memory_id for one in sure.ranked] == [a_memory_id(2)]
    assert sure.ranked[0].reasons[-1] == "evidence"
    assert [one.candidate.memory_id for one in sure.weighed] == [a_memory_id(2), a_memory_id(1)]


def test_below_the_bar_nothing_is_said_and_everything_was_weighed() -> None:
    sure = ask(cue_of("file not found: trace.go"), the(OTHER, 1), the(RECORD, 2))
    assert sure.ranked == ()
    assert len(sure.weighed) == 2


def test_mass_is_the_sum_of_surprise_weighed_by_rarity() -> None:
    cue, noise = cue_of("gosec"), noise_of("gosec", total=500)
    statistics = TermStatistics(total=100, counts={"gosec": 1})
    record = the("gosec")
    sure = confident(Ranked(ranked=(record,)), cue, noise, statistics, BAR)
    q = (1 + 3000 * 2e-6) / (500 + 3000)
    expected = -math.log(1 - math.exp(-q))
    assert sure.weighed[0].mass == pytest.approx(expected)


def test_what_the_session_says_all_the_time_is_no_evidence() -> None:
    quiet = ask(cue_of(FAILURE), the(RECORD))
    loud = ask(cue_of(FAILURE), the(RECORD), noise=noise_of(*[FAILURE] * 50))
    assert loud.weighed[0].mass < quiet.weighed[0].mass / 2


def test_a_word_common_in_other_sessions_weighs_less() -> None:
    common = ask(cue_of("run"), the("run"), noise=Noise(counts={}, total=0, agree={}))
    rare = ask(cue_of("gosec"), the("gosec"), noise=Noise(counts={}, total=0, agree={}))
    assert common.weighed[0].mass < rare.weighed[0].mass


def test_a_longer_window_has_to_match_more() -> None:
    padding = " ".join(f"word{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(300))
    short, long = ask(cue_of(FAILURE), the(RECORD)), ask(cue_of(f"{FAILURE} {padding}"), the(RECORD))
    assert long.weighed[0].mass < short.weighed[0].mass


def test_agreement_of_earlier_passes_lifts_a_record_over_the_bar() -> None:
    mass = ask(cue_of(FAILURE), the(RECORD)).weighed[0].mass
    alone = ask(cue_of(FAILURE), the(RECORD), theta=mass + 1, failed=0.0)
    agreed = ask(
        cue_of(FAILURE),
        the(RECORD),
        theta=mass + 1,
        failed=0.0,
        noise=noise_of(FAILURE, total=500, agree={a_memory_id(): 2.0}),
    )
    assert alone.ranked == ()
    assert agreed.ranked[0].agree == 2.0
    assert agreed.ranked[0].score == pytest.approx(mass + 0.7 * 2.0)


def test_terms_of_records_given_before_count_a_quarter() -> None:
    fresh = ask(cue_of(FAILURE), the(RECORD))
    told = ask(cue_of(FAILURE), the(RECORD), told=RECORD)
    assert told.weighed[0].mass == pytest.approx(fresh.weighed[0].mass / 4)


def test_a_record_that_was_given_votes_by_all_that_it_matches() -> None:
    records = [the(RECORD, 1), the("f.Close unchecked", 2)]
    fresh = ask(cue_of(FAILURE), *records, voters=1)
    told = ask(cue_of(FAILURE), *records, told=RECORD, voters=1)
    assert told.weighed[0].mass < fresh.weighed[0].mass
    assert fresh.votes == told.votes == (a_memory_id(1),)


def test_evidence_has_to_stand_in_the_event_itself() -> None:
    around = ask(cue_of(f"done\n{FAILURE}", focus="done"), the(RECORD))
    assert around.ranked == ()
    assert around.weighed[0].mass > BAR.policy.theta


def test_a_cue_without_an_event_of_its_own_is_judged_by_all_of_it() -> None:
    seed = structs.replace(cue_of(FAILURE), focus=(), segment_kind=None)
    assert ask(seed, the(RECORD)).ranked


@pytest.mark.parametrize("kind", [SegmentKind.REPLY, SegmentKind.CALL])
def test_a_failing_result_needs_less_evidence_than_anything_else(kind: SegmentKind) -> None:
    record = the(RECORD)
    theta = ask(cue_of(FAILURE), record).weighed[0].score + BAR.policy.failed
    assert ask(cue_of(FAILURE), record, theta=theta - 0.01).ranked
    other = structs.replace(cue_of(FAILURE), segment_kind=kind)
    assert not ask(other, record, theta=theta - 0.01, things=0.0, stated=1.0).ranked


def test_who_corrects_the_agent_states_the_rule_himself() -> None:
    said = structs.replace(cue_of(f"no, {FAILURE}", focus="no, gosec G304"), segment_kind=SegmentKind.PROMPT)
    theta = ask(said, the(RECORD)).weighed[0].score - 1
    assert ask(said, the(RECORD), theta=theta).ranked[0].reasons[-1] == "evidence"
    sure = ask(structs.replace(said, corrects=True), the(RECORD), theta=theta)
    assert "evidence" not in [reason for one in sure.ranked for reason in one.reasons]
    assert sure.weighed[0].bar == pytest.approx(theta + BAR.policy.corrected)


SEAL = "SealBrokenError in `make seal`: delete the stale stamp file build/seal.stamp, then run make seal again."
BROKEN = "SealBrokenError: seal check failed"


def failing(output: str, command: str = "", around: str = "", errors: tuple[str, ...] = ("sealbrokenerror",)) -> Cue:
    cue = cue_of(f"{output}\n{command}\n{around}", focus=output)
    return structs.replace(cue, errors=errors, act=distinct(command))


LONG = " ".join(f"{one}{two}word" for one in "bcdfghjklm" for two in "npqrstvwxz")


@pytest.mark.parametrize("around", ["", LONG], ids=["little around it", "much around it"])
def test_a_failure_that_names_a_records_error_needs_only_the_command_besides(around: str) -> None:
    sure = ask(failing(BROKEN, "make seal", around), the(OTHER, 1), the(SEAL, 2))
    assert [one.candidate.memory_id for one in sure.ranked] == [a_memory_id(2)]
    assert sure.ranked[0].reasons[-1] == "evidence" and sure.ranked[0].score >= sure.ranked[0].bar > 0
    assert ask(failing(BROKEN, "", around), the(SEAL)).ranked == (), "the error alone is not enough"
    assert ask(failing(BROKEN, "make seal", around), the(SEAL), named=99.0).ranked == ()
    assert ask(failing(BROKEN, "make seal", around, errors=()), the(SEAL)).ranked == ()


def test_one_other_rare_thing_of_the_output_does_as_well_as_the_command() -> None:
    record = "G304 of gosec is right about paths from outside."
    output = "trace.go:41: G304 (gosec)"
    assert ask(failing(output, around=LONG, errors=("g304",)), the(record)).ranked
    assert not ask(failing("trace.go:41: G304", around=LONG, errors=("g304",)), the(record)).ranked


def test_a_named_error_that_the_session_is_full_of_is_no_news() -> None:
    loud = noise_of(*[f"{BROKEN} make seal"] * 200)
    assert not ask(failing(BROKEN, "make seal", LONG), the(SEAL), noise=loud).ranked


def test_a_second_record_on_the_same_error_has_to_bring_something_of_its_own() -> None:
    other = "SealBrokenError in make seal comes from two seals at once."
    assert ask(failing(BROKEN, "make seal", LONG), the(other)).ranked
    assert not ask(failing(BROKEN, "make seal", LONG), the(other), told=SEAL).ranked


def test_of_records_that_name_the_error_the_one_that_shares_most_is_chosen() -> None:
    records = [the("SealBrokenError came up in make last week.", 1), the(f"{SEAL} The check takes long.", 2)]
    sure = ask(failing(BROKEN, "make seal", LONG), *records)
    assert [one.candidate.memory_id for one in sure.ranked] == [a_memory_id(2)]


def test_a_named_error_has_to_share_more_in_a_large_store() -> None:
    def bar_of(total: int) -> float:
        statistics = TermStatistics(total=total, counts={})
        ranked = Ranked(ranked=(the(SEAL),))
        bar = Bar(structs.replace(BAR.policy, named=4.0), BAR.background)
        cue = failing(BROKEN, "make seal", LONG)
        return confident(ranked, cue, noise_of(FAILURE, total=500), statistics, bar).ranked[0].bar

    assert bar_of(1_000) == pytest.approx(4.0)
    assert bar_of(10_000) == pytest.approx(4.0 + math.log(10))


NAME = "calculatePromptAttributionAtStart stands in strategy/manual_commit_hooks.go beside the calls for a fixture."


def test_one_name_counted_in_parts_is_a_topic_and_no_need() -> None:
    alone = cue_of("look at calculatePromptAttributionAtStart in strategy/manual_commit_hooks.go")
    assert ask(alone, the(NAME)).weighed[0].mass > BAR.policy.theta
    assert not ask(alone, the(NAME)).ranked
    several = cue_of("calculatePromptAttributionAtStart in strategy/manual_commit_hooks.go calls the fixture")
    assert ask(several, the(NAME)).ranked


def test_a_person_may_ask_with_one_name() -> None:
    asked = structs.replace(
        cue_of("look at calculatePromptAttributionAtStart in strategy/manual_commit_hooks.go"),
        segment_kind=SegmentKind.PROMPT,
    )
    assert ask(asked, the(NAME)).ranked[0].reasons[-1] == "evidence"


def test_things_are_whole_names_and_pairs_of_characters_count_half() -> None:
    assert things(distinct("cli.SilentError returns errors.As")) == 3  # the name, the verb and the function
    assert things(("数据", "据库")) == 1.0
    assert things(()) == 0


def test_a_reply_that_says_what_the_record_says_has_found_it_out_already() -> None:
    said = "gosec refuses os.Create with a path from the environment: that is G304 of mise run lint"
    reply = structs.replace(cue_of(said), segment_kind=SegmentKind.REPLY)
    assert not ask(reply, the(RECORD)).ranked
    assert ask(reply, the(RECORD), stated=0.95).ranked
    call = structs.replace(reply, segment_kind=SegmentKind.CALL)  # and so has a command that does it
    assert not ask(call, the(RECORD)).ranked
    assert ask(call, the(RECORD), stated=0.95).ranked
    failure = structs.replace(reply, segment_kind=SegmentKind.RESULT)  # an error that says it is the need itself
    assert ask(failure, the(RECORD)).ranked


def test_an_intention_beside_a_failure_is_not_yet_the_lesson() -> None:
    reply = structs.replace(
        cue_of(f"{FAILURE} I will let gosec see a checked f.Close.", focus="I will let gosec see a checked f.Close."),
        segment_kind=SegmentKind.REPLY,
    )
    assert ask(reply, the(RECORD), stated=0.9).ranked


def test_a_record_that_does_not_hold_up_leaves_the_word_to_the_next() -> None:
    cue = cue_of(f"done\n{FAILURE}", focus="gosec G304 os.Create")
    around = the("f.Close unchecked G104 cmd/cli/trace.go:44 included file inclusion via", 1)
    assert [one.candidate.memory_id for one in ask(cue, around, the(RECORD, 2)).ranked] == [a_memory_id(2)]


def test_the_bar_rises_with_stores_beyond_a_thousand_records() -> None:
    record, cue, noise = the(RECORD), cue_of(FAILURE), noise_of(FAILURE, total=500)

    def opens(total: int, theta: float) -> bool:
        bar = Bar(structs.replace(BAR.policy, theta=theta), BAR.background)
        statistics = TermStatistics(total=total, counts={})
        return bool(confident(Ranked(ranked=(record,)), cue, noise, statistics, bar).ranked)

    score = ask(cue, record).weighed[0].score
    assert opens(1_000, score - 1)
    assert not opens(1_000_000, score - 1)


def test_votes_are_the_three_most_surprising_records_that_match() -> None:
    records = [the(RECORD, 4), the("gosec G304 G104", 3), the("os.Create fails", 2), the("f.Close", 1), the(OTHER, 5)]
    sure = ask(cue_of(FAILURE), *records)
    assert len(sure.votes) == 3
    assert a_memory_id(5) not in sure.votes
    assert a_memory_id(3) in sure.votes


WORDS = distinct("run file test gosec lint mailer port unchecked environment refuses path trace close create error")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@given(TEXTS, st.lists(TEXTS, max_size=12), st.integers(1, 4))
def test_the_votes_are_what_reckoning_out_every_record_would_give(window: str, texts: list[str], voters: int) -> None:
    records = [the(text, number) for number, text in enumerate(texts)]
    noise = noise_of(window, total=500)
    counts: dict[str, int] = {}
    for record in records:
        tally(counts, record.candidate.terms)
    asked = distinct(window)

    def z(record: Scored) -> float:
        mass = expected = variance = 0.0
        for term in record.candidate.terms:
            share = max(2e-6, BAR.background.counts.get(term, 0) / BAR.background.total)
            q = (noise.counts.get(term, 0) + 3000 * share) / (noise.total + 3000)
            p = min(0.98, max(1e-5, 1 - math.exp(-q * len(asked))))
            rarity, most = ((100 - count + 0.5) / (count + 0.5) for count in (counts[term], 1))
            nats = -math.log(p) * math.log(1 + rarity) / math.log(1 + most)
            mass += nats if term in asked else 0.0
            expected += p * nats
            variance += p * (1 - p) * nats * nats
        return (mass - expected) / math.sqrt(variance + 1)

    matching = [record for record in records if set(asked) & set(record.candidate.terms)]
    best = sorted(matching, key=lambda record: (-round(z(record), 9), record.candidate.memory_id))
    sure = ask(cue_of(window), *records, noise=noise, voters=voters)
    assert [round(z(by_id(records, one)), 9) for one in sure.votes] == [round(z(one), 9) for one in best[:voters]]


def by_id(records: list[Scored], memory_id: str) -> Scored:
    return next(one for one in records if one.candidate.memory_id == memory_id)


def test_a_store_of_one_record_answers_a_question_by_the_other_door() -> None:
    cue = a_cue("how are prices stored?", question=True)
    record = the("Prices are stored in cents.")
    statistics = TermStatistics(total=1, counts={"price": 1, "store": 1})
    noise = noise_of("how are prices stored?")
    sure = confident(Ranked(ranked=(record,)), cue, noise, statistics, BAR)
    assert sure.ranked[0].reasons[-1] == "answer"


def test_a_policy_may_leave_out_what_the_agent_says() -> None:
    said = a_cue(FAILURE, segment_kind=SegmentKind.REPLY, focus=distinct("gosec G304 G104 os.Create"))
    assert ask(said, the(RECORD), stated=1.0).ranked
    assert not ask(said, the(RECORD), stated=1.0, replies=False).ranked
    assert ask(cue_of(FAILURE), the(RECORD), replies=False).ranked


@pytest.mark.parametrize(("records", "beyond"), [(100, 0.0), (1_000, 0.0), (10_000, math.log(10))])
def test_everything_weighed_is_told_with_the_bar_that_it_had_to_reach(records: int, beyond: float) -> None:
    statistics = TermStatistics(total=records, counts={})
    ranked = Ranked(ranked=(the(OTHER, 1), the(RECORD, 2)))
    sure = confident(ranked, cue_of(FAILURE), noise_of(FAILURE, total=500), statistics, BAR)
    assert [one.bar for one in (*sure.weighed, *sure.ranked)] == [
        pytest.approx(BAR.policy.theta - BAR.policy.failed + beyond)
    ] * 3


def test_nothing_to_weigh_is_nothing_to_say() -> None:
    assert ask(cue_of(FAILURE)) == Ranked(ranked=())


def test_a_term_is_counted_once_an_event() -> None:
    counts: dict[str, int] = {}
    assert tally(counts, distinct("alpha beta alpha")) == 2
    assert tally(counts, distinct("beta gamma")) == 2
    assert counts == {"alpha": 1, "beta": 2, "gamma": 1}


def test_agreement_fades_by_a_tenth_a_pass_and_is_forgotten_at_last() -> None:
    after = aged({"a": 1.0, "b": 0.005}, ["c", "a"])
    assert after == {"a": pytest.approx(1.9), "c": 1.0}


@given(st.permutations(list(range(6))))
def test_the_order_of_candidates_changes_nothing(order: list[int]) -> None:
    texts = [RECORD, OTHER, "gosec G304", "os.Create fails", "f.Close unchecked", "trace.go"]
    records = [the(text, number) for number, text in enumerate(texts)]
    assert ask(cue_of(FAILURE), *[records[place] for place in order]) == ask(cue_of(FAILURE), *records)


@given(st.text(max_size=80), st.text(max_size=80))
def test_scores_are_finite_whatever_the_texts(window: str, record: str) -> None:
    sure = ask(cue_of(window), the(record or "x"), noise=noise_of(window))
    assert all(math.isfinite(one.score) and one.mass >= 0 for one in sure.weighed)
