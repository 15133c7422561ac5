"""How entries of any framework are named, cut and told apart."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.frame import close_line, open_line
from host.inprocess.said import TEXT_CHARACTERS, called, clip, identifier, numbered, ours
from host.protocol import IDENTIFIER

PACKET = f"{open_line('0123abcd')}\nA lesson.\n{close_line('0123abcd')}"


@given(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300))
def test_an_identifier_is_what_the_wire_takes_and_two_names_do_not_become_one(one: str, other: str) -> None:
    assert (identifier(one) == identifier(other)) is (clip(one) == clip(other))


def test_names_are_each_there_once() -> None:
    assert numbered(["a", "b", "a", "a"]) == ("a", "b", "a#2", "a#3")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("upload", {"name": "a.zip"}, {"tool": "upload", "args": "a.zip"}),
        ("upload", '{"name": "a.zip"}', {"tool": "upload", "args": "a.zip"}),
        ("edit", {"path": "a.py", "text": "x"}, {"tool": "edit", "args": '{"path":"a.py","text":"x"}', "path": "a.py"}),
        ("bash", {"command": "make test"}, {"tool": "shell", "args": "make test"}),
        ("shell", {"command": "make test", "timeout": 5}, {"tool": "shell", "args": "make test"}),
        ("local_shell", {"command": ["make", "test"]}, {"tool": "shell", "args": "make test"}),
        ("shell", {"commands": ["cd a", "make"]}, {"tool": "shell", "args": "cd a\nmake"}),
        ("shell", {"script": "make"}, {"tool": "shell", "args": "make"}),
        ("note", "not json", {"tool": "note", "args": "not json"}),
        ("now", None, {"tool": "now"}),
        ("odd", {1: {2}}, {"tool": "odd", "args": '{"1":[2]}'}),
        ("many", [1, 2], {"tool": "many", "args": "[1,2]"}),
    ],
)
def test_a_call_says_in_plain_text_what_is_about_to_be_done(tool: str, arguments: object, told: Any) -> None:
    said = {key: value for key, value in called(tool, arguments).items() if value is not None}

    assert said == told | {"nativeTool": tool}


def test_our_own_text_is_nobodys_words() -> None:
    assert ours(PACKET) and ours(f"\n{PACKET}\n")
    assert not ours("hello") and not ours(f"{PACKET}\nand more")


@given(st.text())
def test_a_text_that_is_cut_is_valid_and_keeps_both_ends(text: str) -> None:
    long = f"{text}head{'x' * 2 * TEXT_CHARACTERS}tail{text}"

    assert len(clip(long)) <= TEXT_CHARACTERS + 3
    assert clip(long).encode("utf-8")
    assert IDENTIFIER.fullmatch(identifier(text))
