"""Skills out of a conversation: what of it is shown, and what is said of the rest."""

import itertools

import msgspec
import pytest

from governance.formation.contracts import Role, RunStatus
from governance.formation.errors import ParameterFault
from governance.formation.skills import HEAD, TAIL, extract_skills, kept
from tests.support.drafting import SUBMIT, SkillShelf, a_skill, call, of_skills, reads, setting_of
from tests.support.noting import TOKEN, a_message, a_model, a_tool

NEW = call(
    "create",
    name="seal-the-build",
    description="Seals it.",
    body="1. `make seal`",
    evidence=["m1"],
    rationale="It took three tries.",
)


async def test_a_conversation_becomes_a_skill() -> None:
    model = a_model(call("list"), NEW, SUBMIT)
    request = of_skills(a_message(1, "Seal the build."), a_message(2, "Done with `make seal`.", Role.ASSISTANT))

    result = await extract_skills(model, request, SkillShelf(a_skill()), setting_of("skill"))

    assert (result.status, result.diagnostics, len(result.changes)) == (RunStatus.COMPLETED, (), 1)
    assert [seen.id for seen in result.read_set] == [a_skill().id]


async def test_no_tool_body_and_no_secret_is_shown() -> None:
    model = a_model(SUBMIT)
    request = of_skills(a_message(1, f"Use {TOKEN}."), a_tool(2), a_message(3, " "))

    await extract_skills(model, request, SkillShelf(), setting_of("skill"))

    said = model.requests[0].messages[0].content
    assert TOKEN not in said and "CANARY" not in said and "[secret:github-token]" in said


async def test_nothing_said_no_call() -> None:
    model = a_model()

    result = await extract_skills(model, of_skills(a_tool(1)), SkillShelf(), setting_of("skill"))

    assert (result.status, model.requests) == (RunStatus.COMPLETED, [])


async def test_what_is_not_ours_is_refused_alone() -> None:
    foreign, own = a_skill(writable=False), a_skill("our-own")
    why = {"evidence": ["m1"], "rationale": "It was said."}
    steps = [reads(foreign), call("update", id=foreign.id, body="x", **why), reads(own)]
    model = a_model(*steps, call("update", id=own.id, body="Else.", **why), SUBMIT)

    result = await extract_skills(model, of_skills(a_message(1)), SkillShelf(foreign, own), setting_of("skill"))

    assert result.status is RunStatus.PARTIAL and [one.code for one in result.diagnostics] == ["not-writable"]
    assert [change.document_id for change in result.changes] == [own.id]


def test_what_fits_is_shown_whole() -> None:
    messages = [a_message(number, "x" * 1_000) for number in range(40)]

    shown = kept(messages)

    assert (len(shown.rows), shown.omitted_chars, shown.omitted_ids, shown.diagnostics) == (40, 0, (), ())


@pytest.mark.parametrize("size", [1_000, 700, 50_000, 39_999])
def test_what_is_left_out_is_counted_and_named(size: int) -> None:
    """Whatever the messages' sizes: the first 8 000 characters and the last 32 000 are there, and no others."""
    count = 50_000 // size + 1
    texts = ["".join(itertools.islice(itertools.cycle("abcdefghij"), size)) for _ in range(count)]
    whole = "".join(texts)

    shown = kept([a_message(number, text) for number, text in enumerate(texts)])

    assert shown.omitted_chars == max(0, len(whole) - HEAD - TAIL) and shown.diagnostics[0].count == shown.omitted_chars
    said = "".join(str(row["content"]) for row in shown.rows)
    plain = "".join(part for line in said.split("\n") if not line.startswith("[… ") for part in [line])
    assert plain == whole[:HEAD] + whole[-TAIL:]
    cut = {one.id for one in shown.messages if "omitted …]" in str(shown.rows[shown.messages.index(one)]["content"])}
    left_out = {f"m{number}" for number in range(count)} - {one.id for one in shown.messages}
    assert set(shown.omitted_ids) == cut | left_out


def test_a_secret_is_found_before_the_cut_goes_through_it() -> None:
    text = "x" * (HEAD - 20) + f" {TOKEN} " + "y" * (TAIL + 500)

    said = "".join(str(row["content"]) for row in kept([a_message(1, text)]).rows)

    assert TOKEN[:12] not in said and TOKEN[-12:] not in said


async def test_a_conversation_that_cannot_be_used_is_refused() -> None:
    for messages, code in (
        ((a_message(1), a_message(1)), "duplicate-id"),
        ((a_message(1, evidence=()),), "empty-evidence"),
        ((msgspec.structs.replace(a_message(1), content="\ud800"),), "bad-content"),
    ):
        with pytest.raises(ParameterFault) as refused:
            await extract_skills(a_model(), of_skills(*messages), SkillShelf(), setting_of("skill"))
        assert refused.value.code == code
