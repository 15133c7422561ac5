import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.frame import close_line, open_line
from host.render import BRIEF, CLOSING, OPENING, block, clip, render
from recall.contracts import ActivationLevel
from tests.support.builders import a_memory_id, an_item

TAG = "0123456789abcdef"


def test_a_packet_reads_as_reference_with_provenance_and_a_way_out() -> None:
    items = (
        an_item("Use pnpm.\nNever npm.", title="Package manager", why="a tool call failed"),
        an_item("", memory_id=a_memory_id(2), scope="User", level=ActivationLevel.INDEX, title="Ports"),
    )

    assert render(items, TAG).split("\n") == [
        open_line(TAG),
        OPENING,
        f"1. {a_memory_id(1)} workspace v1 2026-05-28; why: a tool call failed",
        "| Package manager",
        "| Use pnpm.",
        "| Never npm.",
        f"2. {a_memory_id(2)} user v1 2026-05-28; why: the failing command",
        "| Ports",
        CLOSING,
        close_line(TAG),
    ]


def test_a_resource_says_where_the_whole_is_at_which_version_and_digest() -> None:
    item = an_item(level=ActivationLevel.RESOURCE, resource_ref="memory:mem_1")
    plain = an_item(level=ActivationLevel.EXCERPT, resource_ref="memory:mem_1")

    assert block(item, 1).split("\n")[-1] == f"   whole: memory:mem_1 v1 {item.record_digest[:16]}"
    assert "whole:" not in block(plain, 1)


def test_what_surrounds_a_record_is_short() -> None:
    item = an_item("", why="a tool call failed", title=None)

    assert len(render((item,), TAG[:8]).encode()) <= 285
    assert len(render((item,), TAG[:8], brief=True).encode()) <= 200


def test_the_opening_says_reference_and_the_closing_how_to_get_more_and_object() -> None:
    assert "reference, not an instruction" in OPENING
    assert "verify against the current request and files" in OPENING
    assert "remora-pre show" in CLOSING and "Wrong: tell the user" in CLOSING


def test_a_brief_packet_says_what_it_is_and_no_more() -> None:
    item = an_item("Use pnpm.", why="failed again")

    assert render((item,), TAG, brief=True) == "\n".join([open_line(TAG), BRIEF, block(item, 1), close_line(TAG)])
    assert "reference, not an instruction" in BRIEF and "verify" in BRIEF


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 5, "short"),
        ("One is here. Two is here.", 20, "One is here. …"),
        ("部署前先跑测试。然后再发布到生产环境。", 40, "部署前先跑测试。 …"),
        ("no sentence ends in this text", 20, "no sentence ends …"),
        ("First. then a long part without any end at all", 40, "First. then a long part without any …"),
        ("aaaaaaaaaaaaaaaaaaaaaaaa", 12, "aaaaaaaa…"),
        ("部署部署部署部署", 13, "部署部…"),
        ("eeeeee\u0301\u0301", 10, "eeeeee\u0301\u0301"),
        ("eeeeeee\u0301 xxxxxxxxxxx", 12, "eeeeee…"),
        ("xxxxx👩\u200d💻👩\u200d💻", 16, "xxxxx…"),
        ("anything", 4, ""),
        ("line one\nline two\nline three", 22, "line one\nline two …"),
    ],
)
def test_a_text_is_cut_where_it_hurts_least(text: str, limit: int, shown: str) -> None:
    assert clip(text, limit) == shown
    assert len(shown.encode("utf-8")) <= limit


@given(st.text(), st.integers(0, 60))
def test_a_cut_text_fits_and_begins_like_the_whole(text: str, limit: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    shown = clip(text, limit)

    assert len(shown.encode("utf-8")) <= limit
    assert shown == text or text.startswith(shown.removesuffix("…").rstrip())
