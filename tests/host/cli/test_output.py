"""Text of data reaches the terminal harmless, and JSON stays JSON."""

import json

import pytest

from host.cli.output import say, show_json, unbroken

HOSTILE = "red\x1b[31m \x9b2J\x1b]52;c;AAAA\x07 back\u202ewards \u200bhidden \U000e0041 tag"


def test_no_escape_sequence_of_a_text_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)

    printed = capsys.readouterr().out
    assert not any(character in printed for character in "\x1b\x9b\x07\u202e\u200b\U000e0041")
    assert printed.startswith("red")


def test_json_escapes_what_cannot_be_seen_and_reads_back_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"text": HOSTILE, "zh": "测试"})

    printed = capsys.readouterr().out
    assert not any(character in printed for character in "\x1b\x9b\x07\u202e\u200b\U000e0041")
    assert "测试" in printed
    assert json.loads(printed) == {"text": HOSTILE, "zh": "测试"}


def test_one_entry_a_line_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"a": {"b": 1}}, indent=None)

    assert capsys.readouterr().out == '{"a": {"b": 1}}\n'


def test_a_name_with_a_line_break_stays_on_its_line() -> None:
    assert unbroken("/notes/a\r\nb.md") == "/notes/a\\r\\nb.md"
