"""Random commands, run by a real shell over random files: what is said to be shown was printed, to the byte."""

import random
import subprocess
from os.path import normpath
from pathlib import Path

import pytest

from host.reading import meant
from host.reads.printings import printings
from host.reads.shown import File, shown
from recall.contracts import Printing

NAMES = ("a.md", "notes/b-2.md", "notes/c d.mdc")
WORDS = ("cache", "port", "部署", "12:34", "- item", "a.md:3:z", "`make`")
COMMANDS = (
    *("cat {p}", "cat -n {p}", "nl -ba {p}", "nl {p}", "head -n {a} {p}", "tail -n {a} {p}", "tail -n +{a} {p}"),
    *("sed -n '{a},{b}p' {p}", "sed -n '{a},$p' {p}", "sed '{a}q' {p}", "sed '1,{a}d' {p}", "sed -n '/cache/p' {p}"),
    *(
        "grep -n cache {p}",
        "grep cache {p}",
        "grep -n port {p} {q}",
        "grep -rn cache .",
        "cat {p} {q}",
        "cat notes/*.md*",
    ),
    *(
        "awk 'NR>={a} && NR<={b}' {p}",
        "head -c {b} {p}",
        "cd notes && cat c\\ d.mdc",
        "for f in {p} {q}; do cat $f; done",
    ),
)
PIPES = ("", "", " | head -n {a}", " | tail -n {a}", " | sed -n '{a},{b}p'", " | nl -ba", " | grep u", " | sort")
ROUNDS = 60


def a_file(chance: random.Random) -> bytes:
    lines = [
        "" if chance.random() < 0.2 else f"u{chance.randrange(10**9)} {' '.join(chance.choices(WORDS, k=3))}"
        for _ in range(chance.choice([0, 1, 3, 10, 30]))
    ]
    end = chance.choice(["\n", "\n", "\r\n"])
    return (end.join(lines) + (end if lines and chance.random() < 0.8 else "")).encode()


def a_command(chance: random.Random) -> str:
    paths = [name.replace(" ", "\\ ") for name in chance.choices(NAMES, k=2)]
    low, high = sorted(chance.sample(range(1, 35), 2))
    pieces = [chance.choice(COMMANDS) + chance.choice(PIPES) for _ in range(chance.choice([1, 1, 2]))]
    values = {"p": paths[0], "q": paths[1], "a": str(low), "b": str(high)}
    text = "; ".join(piece for piece in pieces)
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def ranges(command: str, output: str, root: Path, files: dict[str, bytes]) -> dict[str, list[tuple[int, int]]]:
    there = {str(root / name): File(name, data) for name, data in files.items()}
    printed: list[tuple[Printing, list[dict[str, File]]]] = []
    for printing in printings(command, output, str(root)):
        for one, choices in meant(printing, output):
            printed.append(
                (one, [{n: there[normpath(p)] for n, p in names.items() if normpath(p) in there} for names in choices])
            )
    found: dict[str, list[tuple[int, int]]] = {}
    for result in shown(printed, output):
        for name, spans in result.spans.items():
            found.setdefault(name, []).extend(spans)
    return found


@pytest.mark.promise("coverage-exact")
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_every_line_that_counts_as_shown_was_printed(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files = {name: a_file(chance) for name in NAMES}
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    command = a_command(chance)
    ran = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    output = ran.stdout.decode("utf-8", "replace")

    for name, spans in ranges(command, output, tmp_path, files).items():
        for start, end in spans:
            assert 0 <= start < end <= len(files[name])
            text = files[name][start:end].decode("utf-8", "ignore")
            for line in text.replace("\r\n", "\n").split("\n"):
                assert line.rstrip() in output.replace("\r\n", "\n"), (command, name, start, end)


def test_most_of_them_are_understood(tmp_path: Path) -> None:
    chance = random.Random(0)
    understood = [bool(printings(a_command(chance), "a.md:1:x", "/p")) for _ in range(200)]

    assert sum(understood) >= 170
