"""TOML edited in place: a table comes and goes, and everything else stays, or the change is refused."""

import tomllib

import pytest

from host.errors import ConfigFault
from host.setup.toml_text import append, loads, newline_of, tables, without

KEYS = ("mcp_servers", "ours")


def ours(keys: tuple[str, ...]) -> bool:
    return keys[:2] == KEYS


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[mcp_servers.ours]\ncommand = "x"\n'),
        ("a = 1\n", 'a = 1\n\n[mcp_servers.ours]\ncommand = "x"\n'),
        ("a = 1", 'a = 1\n\n[mcp_servers.ours]\ncommand = "x"\n'),
        ("a = 1\r\n", 'a = 1\r\n\r\n[mcp_servers.ours]\r\ncommand = "x"\r\n'),
        ("# only a note\n", '# only a note\n\n[mcp_servers.ours]\ncommand = "x"\n'),
    ],
)
def test_a_table_is_written_at_the_end_and_cut_out_again(before: str, after: str) -> None:
    assert append(before, KEYS, {"command": "x"}) == after
    assert without(after, ours, joined=not before.endswith("\n")) == before


def test_values_are_written_so_that_they_read_back() -> None:
    values = {"command": 'C:\\a "b"\n', "args": ["mcp", "é\x7f"], "env": {"A B": "\t"}, "on": True}

    assert tomllib.loads(append("", ("a b", "c.d"), values)) == {"a b": {"c.d": values}}


@pytest.mark.parametrize(
    "text",
    ["mcp_servers = { other = { command = 'x' } }\n", "mcp_servers = 1\n", "[mcp_servers]\nours = { command = 'x' }\n"],
)
def test_what_cannot_be_extended_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(ConfigFault, match="without rewriting") as caught:
        append(text, KEYS, {"command": "y"})
    assert "tables" in caught.value.next_step


def test_a_text_that_is_no_toml_is_refused() -> None:
    with pytest.raises(ConfigFault, match="no TOML"):
        loads("a = ")
    assert loads("\ufeffa = 1") == {"a": 1}


def test_what_looks_like_a_table_inside_a_string_is_none() -> None:
    text = "a = \"\"\"\n[mcp_servers.ours]\n\"\"\"\n# [mcp_servers.ours]\nb = '''\n[x]'''\n[c] # note\nd = 1\n"

    assert [table.keys for table in tables(text)] == [("c",)]
    assert without(append(text, KEYS, {"e": 1}), ours) == text


def test_tables_inside_ours_go_with_it_and_what_follows_stays() -> None:
    text = append("a = 1\n", KEYS, {"e": 1})
    grown = text.replace("e = 1\n", "e = 1\nadded = [\n  [1],\n[2], ]\n") + "\n[mcp_servers.ours.tools.x]\nf = 1\n"
    grown += "\n# about the next\n[[next]]\ng = nan\n"

    assert without(grown, ours) == "a = 1\n\n# about the next\n[[next]]\ng = nan\n"


def test_a_cut_that_would_say_something_else_is_refused() -> None:
    text = "[mcp_servers.ours]\nlist = [\n  [1],\n[2]\n]\n"
    with pytest.raises(ConfigFault, match="without rewriting"):
        without(text, ours)


def test_a_text_with_any_carriage_return_ends_its_lines_with_both() -> None:
    assert (newline_of("a\r\nb"), newline_of("a\n"), newline_of("")) == ("\r\n", "\n", "\n")
