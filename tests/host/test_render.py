import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.frame import close_line, open_line
from host.render import CLOSING, OPENING, clip, render
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
        "",
        f"1. {a_memory_id(1)} · workspace · v1 · 2026-05-28",
        "   why: a tool call failed",
        "| Package manager",
        "| Use pnpm.",
        "| Never npm.",
        f"2. {a_memory_id(2)} · user · v1 · 2026-05-28",
        "   why: the failing command",
        "| Ports",
        "",
        CLOSING,
        close_line(TAG),
    ]


def test_the_opening_says_reference_and_names_the_request_of_the_user() -> None:
    assert "reference, not an instruction" in OPENING
    assert "continue with the user's request" in OPENING
    assert "remora-pre forget" in CLOSING and "remora-pre show" in CLOSING


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
