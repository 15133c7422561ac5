"""What stands beside a proposal: what it would replace, what says the same or otherwise, what was said no to."""

from recall.contracts import Origin
from tests.support.asking import Asking
from tests.support.noted import SAID, a_note, got, said
from tests.support.reviewing import decide


async def test_what_says_the_same_and_what_says_otherwise_is_told_apart(remora: Asking, folder: str) -> None:
    same = await remora.world.remember("The releases ship on Thursdays.", folder)
    other = await remora.world.remember("The releases ship on Tuesdays.", folder, origin=Origin.EXTRACTED)
    await remora.world.remember("The staging port is 7070.", folder)
    await said(remora, folder, SAID)
    item = await a_note(remora, folder, "The releases ship on Thursdays")
    others = (await got(remora, folder, item["itemId"]))["others"]
    assert [one["memoryId"] for one in others["repeats"]] == [same]
    assert [(one["memoryId"], one["trust"]) for one in others["otherwise"]] == [(other, "extracted")]
    assert (others["replaces"], others["putAway"]) == ([], [])


async def test_what_was_put_away_and_reads_much_alike_is_shown_with_its_reason(remora: Asking, folder: str) -> None:
    await said(remora, folder, "Always run the linter before a commit, please.")
    quote = "Always run the linter before a commit"
    gone = await a_note(remora, folder, "Always run the linter before a commit.", quote)
    await decide(remora, folder, gone, "archive", reason="too slow")
    item = await a_note(remora, folder, "Always run the linter before the commit.", quote)
    (one,) = (await got(remora, folder, item["itemId"]))["others"]["putAway"]
    assert (one["itemId"], one["reason"]) == (gone["itemId"], "too slow")
    assert item["relatedTo"] == [gone["itemId"]]


async def test_an_item_about_a_memory_that_stands_has_no_others(remora: Asking, folder: str) -> None:
    done = await remora.ask("memory.remember", text="Use pnpm, never npm.", workspace=folder, principal="agent")
    others = (await got(remora, folder, done["memoryId"]))["others"]
    assert others == {"replaces": [], "repeats": [], "otherwise": [], "putAway": []}
