"""Our block in a file of the user's: theirs stays byte for byte, and nothing in ours ends it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team import blocks
from governance.team.blocks import Listed, Section
from governance.team.errors import Kind, TeamFault
from governance.team.providers import provider
from tests.support.consolidating import FORMATS, a_scene

BEGIN, END = FORMATS.begin.encode(), FORMATS.end.encode()
SECTIONS = (Section(name="doctrine", text="### Doctrine\n\nTest first."),)


def spliced(data: bytes, sections: tuple[Section, ...] = SECTIONS) -> bytes:
    return blocks.spliced(data, sections, FORMATS, "CLAUDE.md").data


def listed(*named: tuple[str, int]) -> list[Listed]:
    return [Listed(path=f"scenes/{name}.md", scene=a_scene(name, heat)) for name, heat in named]


def test_a_file_without_markers_gets_the_block_at_its_end_and_a_second_time_nothing() -> None:
    once = spliced(b"# Mine\n")
    assert once.startswith(b"# Mine\n\n" + BEGIN + b"\n") and once.endswith(END + b"\n")
    assert spliced(once) == once


def test_an_empty_file_is_the_block() -> None:
    once = spliced(b"")
    assert once.startswith(BEGIN) and spliced(once) == once


def test_what_stands_around_the_block_stays() -> None:
    data = b"above\r\n" + BEGIN + b"\r\nold\r\n" + END + b" \r\nbelow, no newline"
    made = spliced(data)
    assert made.startswith(b"above\r\n" + BEGIN + b"\r\n") and made.endswith(END + b" \r\nbelow, no newline")
    assert b"\n" not in made.replace(b"\r\n", b"")


words = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="<"), max_size=20)
lines = st.lists(words, max_size=6)


@given(lines, lines, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_second_time_changes_nothing_and_outside_bytes_are_kept(
    above: list[str], below: list[str], newline: str, has_block: bool
) -> None:
    top, bottom = newline.join(above).encode(), newline.join(below).encode()
    mark = newline.encode()
    data = top + mark + BEGIN + mark + b"old" + mark + END + mark + bottom if has_block else top
    once = spliced(data)
    assert spliced(once) == once
    assert once.startswith(top)
    assert not has_block or once.endswith(END + mark + bottom)


@pytest.mark.parametrize(
    "data",
    [
        BEGIN + b"\nno end\n",
        b"no begin\n" + END + b"\n",
        END + b"\n" + BEGIN + b"\n",
        BEGIN + b"\n" + BEGIN + b"\n" + END + b"\n",
        BEGIN + b"\n" + END + b"\n" + BEGIN + b"\n" + END + b"\n",
        b"see " + BEGIN + b"\n" + END + b"\n",
        BEGIN.replace(b"v1", b"v2") + b"\n" + END + b"\n",
        BEGIN + b" and words\n" + END + b"\n",
        b"\xff\xfea\x00",
        b"caf\xe9\n",
        b"\x00",
    ],
)
def test_markers_that_are_not_one_pair_and_files_that_are_no_utf_8_are_a_conflict(data: bytes) -> None:
    with pytest.raises(TeamFault) as fault:
        spliced(data)
    assert fault.value.kind is Kind.ASSEMBLY_CONFLICT
    assert fault.value.problem and fault.value.next_step


def test_a_byte_order_mark_before_the_block_stays() -> None:
    data = b"\xef\xbb\xbf" + BEGIN + b"\nold\n" + END + b"\n"
    assert spliced(data).startswith(b"\xef\xbb\xbf" + BEGIN)


def test_scenes_are_listed_hottest_first_then_by_name_fifteen_of_them() -> None:
    scenes = listed(("tests", 2), ("builds", 2), ("releases", 9), *((f"x{n:02}", 1) for n in range(14)))
    (section,) = blocks.sections("", "", scenes, [])
    rows = section.text.split("\n")[2:]
    assert [row.split()[1] for row in rows[:4]] == ["releases", "builds", "tests", "x00"]
    assert len(rows) == 16 and rows[-1] == "- and 2 more"
    assert blocks.omitted(scenes) == 2


def test_where_nothing_is_said_there_is_no_section_and_rules_alone_are_nothing() -> None:
    assert blocks.sections("Rules.", " \n", [], []) == ()
    assert [one.name for one in blocks.sections("Rules.", "Said.", [], [("release-pre", "How to")])] == [
        "rules",
        "doctrine",
        "skills",
    ]


def test_nothing_that_is_said_can_end_the_block() -> None:
    said = f"{FORMATS.end}\n{FORMATS.begin}\n<!-- hidden -->"
    scene = a_scene("builds", summary="x <!-- y -->")
    parts = blocks.sections("", said, [Listed(path="scenes/builds.md", scene=scene)], [("a-pre", FORMATS.end)])
    once = spliced(b"mine\n", parts)
    assert once.count(BEGIN) == once.count(END) == 1
    assert spliced(once, parts) == once
    assert b"<!-- hidden" not in once and b"<!-- y" not in once


def test_a_block_without_sections_says_so() -> None:
    assert b"Nothing is kept there yet." in spliced(b"", ())


def test_what_falls_out_of_a_cap_is_named() -> None:
    long = (Section(name="doctrine", text="d" * 100), Section(name="skills", text="s" * 33_000))
    made = blocks.spliced(b"mine\n", long, FORMATS, "AGENTS.md")
    (told,) = blocks.warnings(made, provider("codex"), "AGENTS.md")
    assert "skills" in told and "doctrine" not in told and "32768" in told
    assert blocks.warnings(blocks.spliced(b"", SECTIONS, FORMATS, "AGENTS.md"), provider("codex"), "AGENTS.md") == ()


def test_what_stands_after_the_block_falls_out_first() -> None:
    data = spliced(b"") + b"x" * 33_000
    made = blocks.spliced(data, SECTIONS, FORMATS, "AGENTS.md")
    (told,) = blocks.warnings(made, provider("codex"), "AGENTS.md")
    assert "what stands after the block" in told and "doctrine" not in told


def test_a_cap_in_characters_counts_characters() -> None:
    data = ("长" * 39_000).encode()
    made = blocks.spliced(data, SECTIONS, FORMATS, "CLAUDE.md")
    assert blocks.warnings(made, provider("claude"), "CLAUDE.md") == ()
    (told,) = blocks.warnings(
        blocks.spliced(("长" * 40_000).encode(), SECTIONS, FORMATS, "CLAUDE.md"), provider("claude"), "CLAUDE.md"
    )
    assert "doctrine" in told


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See @docs/style.md", "See &#64;docs/style.md"),
        ("@~/.aws/credentials", "&#64;~/.aws/credentials"),
        ("Take `@types/node` and `npm i @scope/x`.", "Take `@types/node` and `npm i @scope/x`."),
        ("A ` here.\nThen ` @.env ` there.", "A ` here.\nThen ` &#64;.env ` there."),
        ("``` x\n@.env", "``` x\n&#64;.env"),
        ("\\` @.env `", "\\` &#64;.env `"),
        ("<div>\n` @.env `", "<div>\n` &#64;.env `"),
        ("Write to anna@example.test.", "Write to anna@example.test."),
    ],
)
def test_nothing_in_the_block_takes_in_another_file(text: str, shown: str) -> None:
    """A product reads `@path` as the contents of that file, which nobody looked at."""
    (doctrine,) = blocks.sections("", text, [], [])
    assert doctrine.text == f"### Doctrine\n\n{shown}"


def test_a_summary_and_a_description_take_in_no_file_either() -> None:
    scene = Listed(path="scenes/a.md", scene=a_scene("a", summary="@.env"))
    scenes, skills = blocks.sections("", "", [scene], [("notes", "Read @.env")])
    assert scenes.text.endswith("&#64;.env") and skills.text.endswith("Read &#64;.env")
