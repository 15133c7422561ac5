"""The frame of a packet, and cutting packets out of a text."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.frame import close_line, cut_packets, open_line, tags

TAG, OTHER = "0123456789abcdef", "fedcba9876543210"
PACKET = f"{open_line(TAG)}\n1. mem_1\n| Use pnpm.\n{close_line(TAG)}"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no packet here", "no packet here"),
        (f"before {PACKET} after", "before  after"),
        (f"{PACKET}{PACKET}Add a flag.", "Add a flag."),
        (f"kept {open_line(TAG)} | never closed", "kept "),
        (f"kept {close_line(TAG)} too", "kept  too"),
        (f"{open_line(TAG)} a {close_line(OTHER)} b {close_line(TAG)} c", " c"),
        (f"{open_line(TAG)} a {open_line(OTHER)} b {close_line(TAG)} c", " c"),
        ("<remora-pre-memory> is what the user writes about", "<remora-pre-memory> is what the user writes about"),
    ],
)
def test_packets_are_cut_out_and_nothing_else(text: str, left: str) -> None:
    assert cut_packets(text) == left


def test_packets_of_the_earlier_template_are_cut_as_well() -> None:
    old = f'<remora-pre-memory tag="{TAG}">\n| Use pnpm.\n</remora-pre-memory tag="{TAG}">'

    assert cut_packets(f"before {old} after") == "before  after"
    assert tags(f"{old} {PACKET}") == (TAG, TAG)


def test_packets_whose_brackets_a_product_escaped_are_cut_as_well() -> None:
    escaped = html.escape(PACKET, quote=False)

    assert cut_packets(f"before {escaped} after") == "before  after"
    assert cut_packets(f"{escaped}{PACKET}Add a flag.") == "Add a flag."
    assert cut_packets(f"kept {html.escape(close_line(TAG))} too") == "kept  too"
    assert tags(f"{escaped} {html.escape(open_line(OTHER))}") == (TAG, OTHER)


def test_a_frame_closes_in_the_form_in_which_it_opened() -> None:
    opened, closed = html.escape(open_line(TAG)), html.escape(close_line(TAG))

    assert cut_packets(f"{opened} a {close_line(TAG)} b {closed} c") == " c"
    assert cut_packets(f"{open_line(TAG)} a {closed} b {close_line(TAG)} c") == " c"


def test_the_tags_of_a_text_are_found_in_order() -> None:
    assert tags(f"{PACKET} and {open_line(OTHER)}") == (TAG, OTHER)


@given(st.text(max_size=100), st.text(max_size=100))
def test_what_stands_around_a_packet_is_kept(before: str, after: str) -> None:
    assert cut_packets(f"{before}{PACKET}{after}") == before + after


def test_many_unclosed_frames_cost_no_more_than_one() -> None:
    assert cut_packets(open_line(TAG) * 5_000) == ""
