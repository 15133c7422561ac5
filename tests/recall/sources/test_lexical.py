"""Association by words: the trigger's terms first, a prefix only for a person's own search."""

from collections.abc import Sequence

import pytest

from recall.analyzer import distinct
from recall.contracts import Candidate, CuePart, RuntimeScope, SegmentKind
from recall.sources.lexical import lexical
from tests.support.builders import a_candidate, a_cue, a_memory_id
from tests.support.fakes import FakeIndex


class Asked(FakeIndex):
    """Remembers the question."""

    terms: Sequence[str] = ()
    prefix = ""

    async def match(
        self, terms: Sequence[str], scope: RuntimeScope, limit: int, prefix: str = ""
    ) -> Sequence[Candidate]:
        self.terms, self.prefix = terms, prefix
        return await super().match(terms, scope, limit)


async def test_it_finds_what_shares_terms() -> None:
    index = FakeIndex(
        [a_candidate("Use pnpm.", memory_id=a_memory_id(1)), a_candidate("Else.", memory_id=a_memory_id(2))]
    )

    assert [one.memory_id for one in await lexical(a_cue("why pnpm?"), index)] == [a_memory_id(1)]


async def test_a_cue_without_terms_asks_nothing() -> None:
    index = FakeIndex([a_candidate()])

    assert list(await lexical(a_cue("。！"), index)) == [] and index.asked == 0


async def test_the_triggers_terms_are_asked_first() -> None:
    index = Asked()

    await lexical(a_cue(terms=("older", "fail", "path"), focus=("fail", "path")), index)

    assert index.terms == ("fail", "path", "older")


@pytest.mark.parametrize(
    ("text", "kind", "prefix"),
    [
        ("session-sto", None, "session-sto"),
        ("where is Gateway/lim", None, "gateway/lim"),
        ("finished word ", None, ""),
        ("a b", None, ""),
        ("备", None, "备"),
        ("odd\0word", None, ""),
        ("session-sto", SegmentKind.PROMPT, ""),
    ],
)
async def test_only_the_last_word_of_a_search_is_a_prefix(text: str, kind: SegmentKind | None, prefix: str) -> None:
    index = Asked()
    part = CuePart(role="query", text=text, weight=1.0)

    await lexical(a_cue(terms=(*distinct(text), "x"), parts=(part,), segment_kind=kind), index)

    assert index.prefix == prefix


async def test_a_search_without_its_text_has_no_prefix() -> None:
    index = Asked()

    await lexical(a_cue("pnpm", parts=(), segment_kind=None), index)

    assert (index.terms, index.prefix) == (distinct("pnpm"), "")
