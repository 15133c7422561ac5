"""Tables hold data as it is: no markup, no escape sequences, nothing cut in a pipe."""

import pytest
from rich.console import Console

from host.cli import tables
from host.cli.tables import one_line, plain, print_line, print_panel, print_table, when


def test_data_is_never_read_as_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("a", "b"), [("[red]x[/red]", ":smile: \x1b[31mred")])

    printed = capsys.readouterr().out
    assert "[red]x[/red]" in printed and ":smile:" in printed and "\x1b" not in printed


def test_a_pipe_gets_an_id_whole_and_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    identity = "mem_" + "0" * 32

    print_table(("memory", "text"), [(identity, "word " * 20)])

    heading, row = capsys.readouterr().out.splitlines()
    assert heading.startswith("memory") and row.startswith(identity) and row.rstrip().endswith("word")


@pytest.mark.parametrize("width", [30, 80])
def test_a_narrow_terminal_gets_every_cell_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    narrow = Console(width=width, highlight=False, emoji=False, markup=False)
    monkeypatch.setattr(tables, "console", lambda: narrow)
    identity = "mem_" + "0" * 32

    print_table(("memory", "kind", "scope", "status", "text"), [(identity, "semantic", "", "active", "数据库 " * 20)])

    printed = capsys.readouterr().out
    assert printed.startswith(f"memory {identity}") and "scope" not in printed
    assert "kind semantic" in printed and "status active" in printed and "text 数据库" in printed


def test_a_panel_has_a_title_and_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_panel("a [title]", "line one\nline two")

    printed = capsys.readouterr().out
    assert "a [title]" in printed and "line one" in printed and "line two" in printed


def test_one_line_folds_blanks_and_cuts_with_a_mark() -> None:
    assert one_line(" a\n\n b ") == "a b"
    assert one_line("abcdef", 4) == "abc…"


def test_one_line_counts_what_a_terminal_shows() -> None:
    assert one_line("数据库迁移", 10) == "数据库迁移"
    assert one_line("数据库迁移", 8) == "数据库…"


def test_a_line_is_broken_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = (("one ", ""), ("two\x1b[31m three", "red"), (" 数据库", ""))
    print_line(*parts, indent=2)
    narrow = Console(width=12, force_terminal=True, color_system=None, highlight=False, emoji=False, markup=False)
    monkeypatch.setattr(tables, "console", lambda: narrow)
    print_line(("one two three 数据库", "red"), indent=2)

    out = capsys.readouterr().out
    assert out == "  one two\\x1b[31m three 数据库\n  one two\n  three\n  数据库\n"


def test_times_are_utc() -> None:
    assert when(1767690959901) == "2026-01-06 09:15:59"


def test_plain_text_keeps_its_words() -> None:
    assert plain("[b]测试[/b]").plain == "[b]测试[/b]"
