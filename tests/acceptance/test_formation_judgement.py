"""formation.md 9, items 4, 5, 6 and 24 (what is compared): what was said, when it was, and what is the same."""

import json
from datetime import UTC, datetime
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

from governance.formation.claims import claim_of, near, same
from governance.formation.contracts import ExtractL1Result, Message, RejectionCode, RunStatus
from governance.formation.notes import extract_l1
from tests.support.noting import a_candidate, a_message, a_model, a_request, a_setting, quoted_slices_hold, submits

CASES = Path(__file__).parents[1] / "data" / "cases"
AT = int(datetime(2026, 11, 3, 9, tzinfo=UTC).timestamp() * 1000)  # a Tuesday


def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    return found


async def noted(candidate: dict[str, Any], *messages: Message, **fields: Any) -> ExtractL1Result:
    return await extract_l1(a_model(submits(candidate)), a_request(*messages, **fields), a_setting())


def codes(result: ExtractL1Result) -> list[RejectionCode]:
    return [one.code for one in result.rejected]


# ---------------------------------------------------------------------------------------------------------- item 4


@pytest.mark.promise("formation-04")
@pytest.mark.parametrize(
    ("said", "quote", "kept"),
    [
        ("Please ship\r\n   on Thursdays only.", "ship on Thursdays only", "ship\r\n   on Thursdays only"),
        ("ok 👍🏽👩‍👩‍👧 then: ship\non Thursdays.", "ship on Thursdays", "ship\non Thursdays"),
        ("先确认 🙂，发布\n安排在 周四。", "发布 安排在 周四", "发布\n安排在 周四"),
        ("Cafe\u0301 builds run\tnightly.", "Café builds run nightly", "Cafe\u0301 builds run\tnightly"),
    ],
)
async def test_item_04_a_quote_with_other_line_breaks_is_the_original_slice(said: str, quote: str, kept: str) -> None:
    message = a_message(0, said)
    result = await noted(a_candidate(quote, "m0", "It is said so."), message)
    note = result.changes[0].after
    assert note.citations[0].quote == kept
    assert quoted_slices_hold(note, message)


@pytest.mark.promise("formation-04")
@pytest.mark.parametrize("quote", ["ship on Thursday only", "Ship on Thursdays only", "ship on Thursdays, only"])
async def test_item_04_one_changed_letter_is_not_found(quote: str) -> None:
    result = await noted(a_candidate(quote, "m0"), a_message(0, "Please ship on Thursdays only."))
    assert codes(result) == [RejectionCode.QUOTE_NOT_FOUND]
    assert result.status is RunStatus.PARTIAL and result.changes == ()


@pytest.mark.promise("formation-04")
async def test_item_04_background_alone_is_too_little_and_one_new_citation_makes_it_enough() -> None:
    messages = a_message(0, "The ledger belongs to billing."), a_message(1, "Yes, keep it there.")
    old, new = ({"messageId": one.id, "quote": one.content} for one in messages)
    alone = a_candidate("", "", "Billing keeps the ledger.", citations=[old])
    both = a_candidate("", "", "Billing keeps the ledger.", citations=[old, new])
    assert codes(await noted(alone, *messages, start_index=1)) == [RejectionCode.BACKGROUND_ONLY]
    result = await noted(both, *messages, start_index=1)
    assert (codes(result), len(result.changes)) == ([], 1)


@pytest.mark.promise("formation-04")
@pytest.mark.promise("field-cases")
async def test_case_a_quote_must_be_verbatim() -> None:
    given = case("quote-must-be-verbatim")
    ((_, said),) = given["given"]["turns"]
    (answer,) = given["given"]["extractor_answer"]
    result = await noted(a_candidate(answer["quote"], "m0", answer["text"]), a_message(0, said))
    assert len(result.changes) == given["then"]["accepted"]
    assert [code.replace("-", "_") for code in codes(result)] == [given["then"]["flag"]]


# ---------------------------------------------------------------------------------------------------------- item 5


@pytest.mark.promise("formation-05")
@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("不可以直接删除 cache 目录", "可以直接删除 cache 目录"),
        ("请勿在周五部署到生产环境。", "在周五部署到生产环境"),
        ("Do not run migrations on Friday.", "run migrations on Friday"),
        ("We can't skip the review step.", "skip the review step"),
        ("Merging without review is fine? No way, never merging.", "Merging"),
    ],
)
async def test_item_05_a_quote_that_leaves_out_the_denial_is_a_cut(said: str, quote: str) -> None:
    result = await noted(a_candidate(quote, "m0"), a_message(0, said))
    assert codes(result) == [RejectionCode.NEGATION_CUT]


@pytest.mark.promise("formation-05")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("retry limit 5", "retry limit 3"),
        ("The build needs Python 3.12.", "The build needs Python 3.11."),
        ("缓存在 var/cache2 目录", "缓存在 var/cache 目录"),
        ("The setting is maxRetries.", "The setting is max_retries."),
    ],
)
async def test_item_05_a_number_version_path_or_name_of_no_quote_is_unsupported(content: str, said: str) -> None:
    assert codes(await noted(a_candidate(said, "m0", content), a_message(0, said))) == [RejectionCode.UNSUPPORTED_TOKEN]
    assert codes(await noted(a_candidate(said, "m0", said), a_message(0, said))) == []


# ---------------------------------------------------------------------------------------------------------- item 6


@pytest.mark.promise("formation-06")
@pytest.mark.promise("field-cases")
async def test_item_06_yesterday_is_the_day_before_the_message() -> None:
    given = case("relative-date-resolved")
    ((_, said),) = given["given"]["turns"]
    message = a_message(0, said, timestamp=AT)
    frozen, ends = given["then"]["text_has"]
    content = f"The API was frozen on {frozen}; the freeze ends on {ends}."
    result = await noted(a_candidate(said, "m0", content), message)
    note = result.changes[0].after
    assert all(date in note.content for date in given["then"]["text_has"])
    assert not any(word in note.content for word in given["then"]["text_lacks"])
    assert note.citations[0].quote == said and quoted_slices_hold(note, message)


@pytest.mark.promise("formation-06")
@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("The API was frozen yesterday.", RejectionCode.RELATIVE_DATE),
        ("API 昨天冻结了。", RejectionCode.RELATIVE_DATE),
        ("The API was frozen on 2026-11-03.", RejectionCode.UNSUPPORTED_TOKEN),
        ("The API was frozen on 2026-11-01.", RejectionCode.UNSUPPORTED_TOKEN),
    ],
)
async def test_item_06_the_word_itself_and_another_date_are_refused(content: str, code: RejectionCode) -> None:
    message = a_message(0, "We froze the API yesterday", timestamp=AT)
    assert codes(await noted(a_candidate(message.content, "m0", content), message)) == [code]


# --------------------------------------------------------------------------------------------------------- item 24


@pytest.mark.promise("formation-24")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Limit is 10", "Limit is 20"),
        ("use X", "do not use X"),
        ("Set maxRetries to 3 in the worker", "Set maxDelay to 3 in the worker"),
        ("上限是 10 次", "上限是 20 次"),
        ("可以用 npm 安装", "不可以用 npm 安装"),
        ("Needs Node 20.1.0", "Needs Node 20.1.1"),
    ],
)
def test_item_24_what_differs_in_a_number_an_identifier_or_a_denial_is_never_one(one: str, other: str) -> None:
    for a, b in permutations((one, other)):
        assert not same(a, b)
        assert not near(a, b)
        assert claim_of(a) != claim_of(b)


@pytest.mark.promise("formation-24")
@pytest.mark.parametrize(
    "spellings",
    [
        (
            "Use uv for Python installs.",
            "use UV for python installs",
            "Use  uv for\nPython installs!",
            "Ｕse uv for Python installs",
        ),
        ("发布安排在 14:00。", "发布安排在 14:00", "发布安排在　14:00 ！", "发布安排在 １４:00"),
    ],
)
def test_item_24_four_spellings_of_a_sentence_are_one_claim(spellings: tuple[str, ...]) -> None:
    assert len({claim_of(said) for said in spellings}) == 1
    assert all(same(a, b) and near(a, b) for a, b in combinations(spellings, 2))
