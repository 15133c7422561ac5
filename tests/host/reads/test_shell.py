"""A command line as data: words, pipes, loops, and what only the shell could know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.reads.shell import LONGEST, MOST, pipelines


def read(command: str) -> list[list[list[str | None]]]:
    """The words of each simple command, by pipeline."""
    return [[[word.value for word in simple.words] for simple in pipeline] for pipeline in pipelines(command)]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cat a.md", [[["cat", "a.md"]]]),
        (
            "cat a.md | head -3 && sed -n '1,5p' \"b c.md\"",
            [[["cat", "a.md"], ["head", "-3"]], [["sed", "-n", "1,5p", "b c.md"]]],
        ),
        ("cat a\\ b.md;ls\npwd & true", [[["cat", "a b.md"]], [["ls"]], [["pwd"]], [["true"]]]),
        ("cat a.md |& cat", [[["cat", "a.md"], ["cat"]]]),
        ("(cd x && cat a.md) || echo no", [[["cd", "x"]], [["cat", "a.md"]], [["echo", "no"]]]),
        ("cat a.md # and cat b.md", [[["cat", "a.md"]]]),
        ("cat \\\n  a.md", [[["cat", "a.md"]]]),
        ('echo "a \\"b\\" \\$c" \'d\'e', [[["echo", 'a "b" $c', "de"]]]),
        ("bash -lc 'cat a.md | head'", [[["cat", "a.md"], ["head"]]]),
        ("/bin/sh -c 'cat a.md'", [[["cat", "a.md"]]]),
        ("cat $HOME/a.md ${HOME}/b.md", [[["cat", "~/a.md", "~/b.md"]]]),
        ("F=a.md; cat $F \"${F}\" '$F'", [[["cat", "a.md", "a.md", "$F"]]]),
        ("F=`pwd`/a.md; cat $F", [[["cat", None]]]),
        ("LANG=C cat a.md", [[["cat", "a.md"]]]),
        ("cat $(ls) `ls` $x ${x:-a}", [[["cat", None]], [["ls"]], [[None, None, None]]]),
        ("cat 'never closed", []),
        ("", []),
    ],
)
def test_a_command_line_is_taken_apart(command: str, words: list[list[list[str | None]]]) -> None:
    assert read(command) == words


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("for f in a b; do cat $f; done; pwd", ["cat a", "cat b", "pwd"]),
        (
            "for f in a b\ndo\n  cat $f\n  for g in 1 2; do cat $f$g; done\ndone",
            ["cat a", "cat a1", "cat a2", "cat b", "cat b1", "cat b2"],
        ),
        ("for f in *.md; do cat $f; done", ["cat ?"]),
        ("if test -f a; then cat a; else cat b; fi", ["test -f a", "cat a", "cat b"]),
        ("while read x; do cat $x; done", ["read x", "cat ?"]),
    ],
)
def test_a_loop_is_run_through(command: str, words: list[str]) -> None:
    assert [" ".join(word or "?" for word in pipeline[0]) for pipeline in read(command)] == words


@pytest.mark.parametrize(
    ("command", "stdin", "is_silent"),
    [
        ("cat < a.md", "a.md", False),
        ("cat a > b", None, True),
        ("cat a >> b", None, True),
        ("cat a &> b", None, True),
        ("cat a >/dev/null 2>&1", None, True),
        ("cat a 2>/dev/null", None, False),
        ("cat a 2>&1", None, False),
        ("cat a 1>&2", None, False),
        ("cat <<< words", None, False),
    ],
)
def test_a_redirection_says_where_from_and_where_to(command: str, stdin: str | None, is_silent: bool) -> None:
    ((simple,),) = pipelines(command)

    assert (simple.stdin.value if simple.stdin else None, simple.is_silent) == (stdin, is_silent)


@pytest.mark.parametrize("here", ["<<'EOF'", '<<"EOF"', "<<EOF", "<< EOF", "<<-EOF"])
def test_the_text_of_a_here_document_is_no_command(here: str) -> None:
    assert read(f"cat {here} > x\ncat a.md\nEOF\ncat b.md") == [[["cat"]], [["cat", "b.md"]]]


def test_in_a_pattern_quoted_signs_stand_for_themselves() -> None:
    ((simple,),) = pipelines("cat 'a*'*.md b[1].md 'c*.md'")

    assert [(word.value, word.is_pattern) for word in simple.words[1:]] == [
        ("a[*]*.md", True),
        ("b[1].md", True),
        ("c*.md", False),
    ]


def test_what_is_too_long_is_not_read() -> None:
    assert pipelines(f"cat {'a' * LONGEST}") == []


def test_loops_within_loops_end() -> None:
    words = " ".join(map(str, range(40)))
    command = "".join(f"for v{n} in {words}; do " for n in range(8)) + "cat $v1;" + " done;" * 8

    assert len(pipelines(command)) <= MOST


@given(st.text(alphabet="'\"\\$`(){};|&<>#*? \n\tabfordoneinscat=-/.", max_size=200))
def test_no_command_line_is_a_fault(command: str) -> None:
    assert len(pipelines(command)) <= MOST
