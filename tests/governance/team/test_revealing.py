"""What a reviewer sees of a text: all of it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team.revealing import revealed

UNICODE = (Path(__file__).parents[2] / "data/adversarial/unicode.jsonl").read_text(encoding="utf-8").splitlines()


def codes(text: str) -> list[str]:
    return [flag.code for flag in revealed(text).flags]


@pytest.mark.parametrize(
    "text",
    [
        "Publish only from the release branch.",
        "发布前先跑测试。\n\n- 第一步：`make test`\n",
        "A family 👨\u200d👩\u200d👧 and ❤\ufe0f and 1\ufe0f\u20e3.",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "می\u200cخواهم",
        "```\nif a < b and c > d:\n    pass\n```",
        "one\r\ntwo\r\n",
        "a & b &amp; c",
    ],
)
def test_an_honest_text_is_as_it_is_and_has_no_flag(text: str) -> None:
    shown = revealed(text)
    assert (shown.content, shown.flags) == (text.replace("\r\n", "\n"), ())


@pytest.mark.parametrize(
    ("text", "seen", "code"),
    [
        ("pub\u200blish", "pub⟦U+200B⟧lish", "hidden-characters"),
        ("go \u202etfel", "go ⟦U+202E⟧tfel", "hidden-characters"),
        ("x\U000e0041\U000e0042", "x⟦U+E0041⟧⟦U+E0042⟧", "hidden-characters"),
        ("x\x1b[8mhidden", "x⟦U+001B⟧[8mhidden", "hidden-characters"),
        ("x\u3164y", "x⟦U+3164⟧y", "hidden-characters"),
        ("a&#8203;b&ZeroWidthSpace;c", "a⟦U+200B⟧b⟦U+200B⟧c", "hidden-characters"),
        ("a<!-- also push -->b", "a⟦HTML comment:  also push  :end of comment⟧b", "html-comment"),
        ("a <!-- never closed", "a ⟦HTML comment:  never closed", "html-comment"),
        ('x <span style="display:none">y</span>', 'x ‹span style="display:none"›y‹/span›', "html-tag"),
        ("<?push?>", "‹?push?›", "html-tag"),
        ("x\n\n[//]: # (also push)", "x\n\n⟦link definition⟧ [//]: # (also push)", "link-definition"),
        ("x" + " " * 200 + "y", "x ⟦200 spaces⟧ y", "far-right"),
        ("x" + "\n" * 61 + "y", "x\n⟦60 blank lines⟧\ny", "below-blank-lines"),
    ],
)
def test_what_would_not_be_seen_is_written_out_and_flagged(text: str, seen: str, code: str) -> None:
    assert revealed(text).content == seen
    assert codes(text) == [code]


@pytest.mark.parametrize(
    "blank",
    [
        "\n",
        "\n ",
        "\n\u00a0",
        "\n<br>",
        "\n\u2003",
        "\n\u202f\u205f",
        "\n#",
        "\n- ",
        "\n> >",
        "\n&nbsp;",
        "\n\u200b",
        "\x0b",
        "\u2028",
        "\r\n",
    ],
)
def test_text_below_lines_that_only_look_blank_is_announced(blank: str) -> None:
    shown = revealed("said" + blank * 60 + "\nburied")
    assert "below-blank-lines" in [flag.code for flag in shown.flags]
    assert shown.content.count("\n") <= 3 and "buried" in shown.content


def test_39_blank_lines_and_blank_lines_at_the_end_hide_nothing() -> None:
    assert codes("x" + "\n" * 40 + "y") == []
    assert codes("x" + "\n" * 41 + "y") == ["below-blank-lines"]
    assert codes("x" + "\n" * 200) == []


def test_a_flag_says_how_many_of_which() -> None:
    (flag,) = revealed("a\u200bb\u200bc\u202ed").flags
    assert flag.detail == "Characters that cannot be seen: 2 × U+200B, 1 × U+202E."


@pytest.mark.parametrize("line", UNICODE, ids=[json.loads(line)["kind"] for line in UNICODE])
def test_every_hidden_or_misleading_character_is_flagged_and_no_honest_one(line: str) -> None:
    case = json.loads(line)
    if case["kind"] == "nbsp-variants":  # a blank that is seen as one
        assert codes(case["text"]) == []
        return
    assert bool(codes(case["text"])) == (case["expect"] != "keep")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_nothing_in_what_is_shown_is_hidden_again(text: str) -> None:
    shown = revealed(text).content
    assert "<!--" not in shown
    assert not set("\u200b\u202e\u2066\x00\x1b\ufeff") & set(shown)
    assert revealed(shown).content.replace("\r", "") == shown.replace("\r", "")


@given(st.text(alphabet="ab \n\u200b<!->[]:#&;", max_size=300))
def test_every_letter_of_a_text_is_shown_in_its_order(text: str) -> None:
    shown = revealed(text).content.replace("HTML comment", "").replace("end of comment", "")
    shown = shown.replace("blank lines", "").replace("link definition", "").replace("spaces", "")
    assert [one for one in shown if one in "ab"] == [one for one in text if one in "ab"]


@pytest.mark.parametrize("blank", " \t\u00a0\u1680\u2003\u202f\u205f\u3000")
def test_text_to_the_right_of_white_space_of_any_width_is_announced(blank: str) -> None:
    shown = revealed("said" + blank * 200 + "buried")
    assert [flag.code for flag in shown.flags] == ["far-right"]
    assert shown.content == "said ⟦200 spaces⟧ buried"
