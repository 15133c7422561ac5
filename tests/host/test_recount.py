"""A session's events as steps: the user's words, the agent's acts, how they ended, and nothing that a tool printed."""

from governance.episodes import Mood, Step, StepKind
from host.recount import MOST_STEPS, Recount
from host.runtime import SESSION_SET
from recall.contracts import EventEnvelope, EventType, SourceKind
from tests.support.builders import FOLDER, a_call, a_prompt, a_reply, a_result, an_event


def steps(*envelopes: EventEnvelope, asleep: bool = False) -> list[Step]:
    recount = Recount(lambda folder: f"ws_{folder}", lambda workspace, at: asleep)
    recount.take(envelopes)
    return recount.steps.get(f"ws_{FOLDER}", [])


def test_words_acts_and_ends_are_told() -> None:
    told = steps(
        a_prompt("Fix the seal."),
        a_reply("I will look."),
        a_call("cd /srv/app && make seal", call_id="1"),
        a_result("SealBrokenError: KeyError in the log of secret words", call_id="1"),
        a_call("rm a.stamp", call_id="2"),
        a_result("", ok=True, call_id="2"),
        a_prompt("That fixed it."),
    )

    assert [(one.kind, one.said, one.act, one.ok) for one in told] == [
        (StepKind.SAID, "Fix the seal.", "", None),
        (StepKind.OTHER, "", "", None),
        (StepKind.OTHER, "", "", None),
        (StepKind.DONE, "", "make seal", False),
        (StepKind.OTHER, "", "", None),
        (StepKind.DONE, "", "rm a.stamp", True),
        (StepKind.SAID, "That fixed it.", "", None),
    ]
    assert (told[3].names, told[3].sorts) == (("SealBrokenError",), ("KeyError",))
    assert told[6].mood is Mood.AGREES
    assert "secret words" not in repr(told)


def test_what_a_machine_wrote_in_the_users_role_is_not_his_word() -> None:
    told = steps(a_prompt("Do this.", source_kind=SourceKind.TOOL), a_prompt("<system-reminder>x</system-reminder>"))

    assert [(one.kind, one.said) for one in told] == [(StepKind.OTHER, ""), (StepKind.OTHER, "")]


def test_an_acknowledgement_is_no_intent_and_a_correction_is_one() -> None:
    told = steps(a_prompt("ok, go on"), a_prompt("No, that's wrong, use the other file."))

    assert [(one.said[:2], one.mood) for one in told] == [("", Mood.NONE), ("No", Mood.CORRECTS)]


def test_an_edit_names_its_file() -> None:
    call = an_event(EventType.TOOL_CALL, {"tool": "edit", "args": "- a", "path": "/srv/app/src/a.py"}, call_id="1")
    told = steps(call, a_result("done", ok=True, tool="edit", call_id="1"))

    assert (told[1].act, told[1].changed) == ("edit …/src/a.py", "…/src/a.py")


def test_a_result_without_its_call_and_one_that_cannot_be_read_say_nothing() -> None:
    told = steps(a_result("SealBrokenError", call_id="9"), a_call(call_id="1"), an_event(EventType.TOOL_RESULT, [1]))

    assert [one.kind for one in told] == [StepKind.OTHER, StepKind.OTHER, StepKind.OTHER]


def test_what_was_incognito_or_in_a_workspace_that_is_off_is_told_nowhere() -> None:
    told = steps(
        a_prompt("Before."),
        an_event(SESSION_SET, {"incognito": True}),
        a_prompt("Hidden."),
        an_event(SESSION_SET, [1]),
        a_prompt("Hidden too."),
        an_event(SESSION_SET, {"incognito": False}),
        a_prompt("After."),
    )

    assert [one.said for one in told] == ["Before.", "After."]
    assert steps(a_prompt("Off."), asleep=True) == []


def test_each_workspace_has_its_own_steps_and_an_agent_stays_where_it_is() -> None:
    recount = Recount(lambda folder: f"ws_{folder}", lambda workspace, at: False)
    recount.take(
        [
            a_prompt("Here."),
            a_prompt("There.", workspace="/other"),
            a_prompt("Still there.", workspace=""),
            a_prompt("Nowhere.", workspace="", agent_id="sub"),
        ]
    )

    assert {key: [one.said for one in told] for key, told in recount.steps.items()} == {
        "ws_/project": ["Here."],
        "ws_/other": ["There.", "Still there."],
    }


def test_a_session_without_end_keeps_its_beginning_and_its_latest_steps() -> None:
    told = steps(*(a_prompt(f"Step {number} of the seal.") for number in range(3 * MOST_STEPS)))

    assert len(told) <= 2 * MOST_STEPS
    assert (told[0].said, told[-1].said) == ("Step 0 of the seal.", f"Step {3 * MOST_STEPS - 1} of the seal.")
