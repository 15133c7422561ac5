"""Results of real clients, and what each showed: written down as lines of the file, counted by hand."""

import base64
import json
from collections.abc import Iterator
from os.path import normpath
from pathlib import Path
from typing import Any

from host.reading import meant
from host.reads import claude_code_shown, codex_shown, gemini_output, gemini_shown, window_bytes
from host.reads.shown import File, merged, shown
from host.transcripts.claude_words import response_text
from recall.contracts import Printing, ReadWindow

DATA = Path(__file__).parents[2] / "data/hosts/reads"
PROJECT = "/home/dev/project"
FILES = {name: base64.b64decode(text) for name, text in json.loads((DATA / "files.json").read_text("utf-8")).items()}

Spans = dict[str, tuple[tuple[int, int], ...]]
ALL = "all"
NOTHING: dict[str, str] = {}
CACHE = {"memory.md": "4", "notes/my-notes-2.md": "2", "notes/with space.md": "2"}

READS: dict[str, dict[str, str]] = {  # Claude Code's Read: file, offset, limit
    "memory.md": {"memory.md": ALL},
    "memory.md 4 2": {"memory.md": "4-5"},
    "memory.md 20 500": {"memory.md": "20-22"},
    "memory.md 1000": NOTHING,  # past the end
    "crlf.md": {"crlf.md": ALL},
    "crlf.md 2 2": {"crlf.md": "2-3"},
    "bom.md": {"bom.md": ALL},
    "bom.md 2 1": {"bom.md": "2"},
    "nonl.md": {"nonl.md": ALL},
    "nonl.md 3": {"nonl.md": "3"},
    "empty.md": NOTHING,
    "blank.md": {"blank.md": ALL},
    "blank.md - 3": {"blank.md": "1-3"},
    "dup.md 2 1": {"dup.md": "2"},
    "latin.md": {"latin.md": ALL},
    "long.md 700": {"long.md": "700-960"},
    "missing.md": NOTHING,
    "notes/with space.md": {"notes/with space.md": ALL},
}
GREPS: dict[str, dict[str, str]] = {  # Claude Code's Grep, in the order of the calls
    "cache": CACHE,
    "cache -n": CACHE,
    "cache memory.md": {"memory.md": "4"},
    "cache memory.md -n=False": {"memory.md": "4"},
    "port -C": {"crlf.md": "1-3 5-7 9-11", "long.md": "1-13"},  # saved by the host: the model saw a preview
    "wiremock memory.md -A -n": {"memory.md": "8-12"},
    "cache files": NOTHING,
    "cache count": NOTHING,
    "same dup.md -n=False": {"dup.md": "2 4 7"},
    "note head_limit": {"crlf.md": "2-3 6"},
    "Redis.*\\n.*port multiline": {"memory.md": "4-12"},
    "部署": {"bom.md": "3", "memory.md": "15"},
    "café|caf": {"latin.md": "2"},
    "cache notes": {"notes/my-notes-2.md": "2", "notes/with space.md": "2"},
}
COMMANDS: dict[str, dict[str, str]] = {  # in the shells of Claude Code and of Codex
    "cat memory.md": {"memory.md": ALL},
    f"cat {PROJECT}/memory.md": {"memory.md": ALL},
    "sed -n 4,5p memory.md": {"memory.md": "4-5"},
    "sed -n '1,200p' memory.md": {"memory.md": ALL},
    "sed -n '8,$p' memory.md": {"memory.md": "8-22"},
    "head memory.md": {"memory.md": "1-10"},
    "head -n 5 memory.md": {"memory.md": "1-5"},
    "head -5 memory.md": {"memory.md": "1-5"},
    "tail -n 4 memory.md": {"memory.md": "19-22"},
    "tail -3 memory.md": {"memory.md": "20-22"},
    "tail -n +20 memory.md": {"memory.md": "20-22"},
    "nl -ba memory.md": {"memory.md": ALL},
    "nl memory.md": {"memory.md": ALL},
    "cat -n memory.md": {"memory.md": ALL},
    "nl -ba memory.md | sed -n '4,9p'": {"memory.md": "4-9"},
    "cat memory.md | head -n 8": {"memory.md": "1-8"},
    "head -n 12 memory.md | tail -n 5": {"memory.md": "8-12"},
    "grep -n cache memory.md": {"memory.md": "4"},
    "grep -n 'port' memory.md crlf.md": {"memory.md": "5 12", "crlf.md": "2 6 10"},
    "grep -rn cache .": CACHE,
    "grep -rn --include='*.md' -i cache notes memory.md": CACHE,
    "grep cache memory.md": {"memory.md": "4"},
    "grep -h note crlf.md": {"crlf.md": "2-3 6-7 10-11"},
    "grep -n -A2 -B1 wiremock memory.md": {"memory.md": "7-12"},
    "grep -C1 -n Redis memory.md": {"memory.md": "3-5"},
    "rg -n cache": CACHE,
    "rg cache notes": {"notes/my-notes-2.md": "2", "notes/with space.md": "2"},
    "rg cache memory.md": {"memory.md": "4"},
    "rg -n -C 2 Postgres memory.md": {"memory.md": "17-21"},
    "rg -n cache notes/my-notes-2.md": {"notes/my-notes-2.md": "2"},
    "cat memory.md crlf.md": {"memory.md": ALL, "crlf.md": ALL},
    "cat nonl.md memory.md": {"nonl.md": ALL, "memory.md": ALL},
    "cat crlf.md": {"crlf.md": ALL},
    "cat bom.md": {"bom.md": ALL},
    "cat nonl.md": {"nonl.md": ALL},
    "cat empty.md": NOTHING,
    "cat blank.md": {"blank.md": ALL},
    "cat dup.md": {"dup.md": ALL},
    "cat latin.md": {"latin.md": ALL},
    "head -c 300 memory.md": {"memory.md": "bytes 0-300"},
    "tail -c 100 memory.md": {"memory.md": "bytes 500-600"},
    "head -n 3 memory.md crlf.md": {"memory.md": "1-3", "crlf.md": "1-3"},
    "cd notes && cat my-notes-2.md": {"notes/my-notes-2.md": ALL},
    "cat my-notes-2.md; cat ../memory.md": {"notes/my-notes-2.md": ALL, "memory.md": ALL},
    "cd .. && cat memory.md": {"memory.md": ALL},
    "cat notes/*.md": {"notes/my-notes-2.md": ALL, "notes/with space.md": ALL},
    "cat 'notes/with space.md'": {"notes/with space.md": ALL},
    "cat notes/with\\ space.md": {"notes/with space.md": ALL},
    "echo start; cat nonl.md; echo; echo middle; sed -n 1,3p dup.md; ls": {"nonl.md": ALL, "dup.md": "1-3"},
    "cat memory.md > /dev/null": NOTHING,
    "cat memory.md | wc -l": NOTHING,
    "cat missing.md; cat nonl.md": {"nonl.md": ALL},
    "cat missing.md && cat nonl.md": NOTHING,
    'for f in nonl.md dup.md; do echo "== $f"; cat "$f"; done': {"nonl.md": ALL, "dup.md": ALL},
    "awk 'NR>=4 && NR<=5' memory.md": {"memory.md": "4-5"},
    "sed -n '/Redis/,/port/p' memory.md": {"memory.md": "4-5"},
    "grep same dup.md": {"dup.md": "2 4 7"},
    "grep -m1 same dup.md": NOTHING,  # which of the three lines nobody can tell
    "grep -n same dup.md | head -2": {"dup.md": "2 4"},
    "cat <<'EOF'\ncat memory.md\nEOF": NOTHING,
    "cat ./notes/../memory.md": {"memory.md": ALL},
    "cat memory.md 2>/dev/null | sed -n '4,5p'": {"memory.md": "4-5"},
    "tac memory.md": NOTHING,
    "less nonl.md": {"nonl.md": ALL},
    "wc -l memory.md; sed -n 4,4p memory.md": {"memory.md": "4"},
    "grep -c cache memory.md": NOTHING,
    "grep -l cache memory.md": NOTHING,
    "sed -n '4,5p;12,12p' memory.md": {"memory.md": "4-5 12"},
    "bash -lc 'sed -n 4,5p memory.md'": {"memory.md": "4-5"},
}
CLAUDE_COMMANDS = COMMANDS | {"sed -n '1,400p' long.md": {"long.md": "1-19"}}  # of a preview the whole lines
CODEX_COMMANDS = COMMANDS | {  # every command starts in the project again
    "cat my-notes-2.md; cat ../memory.md": NOTHING,
    "cd .. && cat memory.md": NOTHING,
    "cat my-notes-2.md": {"notes/my-notes-2.md": ALL},  # with a folder of its own
    "cat long.md": {"long.md": "bytes 0-1000 97230-98230"},  # the middle was left out
    "sed -n '1,400p' long.md": {"long.md": "bytes 0-20000 20687-40687"},
}
GEMINI: dict[str, dict[str, str]] = {
    "read_file memory.md": {"memory.md": ALL},
    "read_file memory.md 4 5": {"memory.md": "4-5"},
    "read_file memory.md 20 -": {"memory.md": "20-22"},
    "read_file memory.md 1000 -": NOTHING,
    "read_file memory.md - 5": {"memory.md": "1-5"},
    "read_file crlf.md": {"crlf.md": ALL},
    "read_file crlf.md 2 3": {"crlf.md": "2-3"},
    "read_file bom.md": {"bom.md": ALL},
    "read_file nonl.md": {"nonl.md": ALL},
    "read_file nonl.md 3 3": {"nonl.md": "3"},
    "read_file empty.md": NOTHING,
    "read_file blank.md": {"blank.md": ALL},
    "read_file latin.md": {"latin.md": ALL},
    "read_file missing.md": NOTHING,
    "read_file notes/my-notes-2.md": {"notes/my-notes-2.md": ALL},
    "run_shell_command cat memory.md": {"memory.md": ALL},
    "run_shell_command sed -n 4,5p memory.md": {"memory.md": "4-5"},
    "run_shell_command cat my-notes-2.md": {"notes/my-notes-2.md": ALL},
    "run_shell_command cat blank.md; cat missing.md": NOTHING,  # it failed
    "grep_search cache": {"memory.md": "1-19", "notes/my-notes-2.md": ALL, "notes/with space.md": ALL},
    "search_file_content cache": {"memory.md": "1-19", "notes/my-notes-2.md": ALL, "notes/with space.md": ALL},
    "grep_search port": NOTHING,
    "grep_search wiremock": {"memory.md": "8 10"},
}


class Case:
    """One captured result: what it is called, what a payload says of it, and what it showed."""

    def __init__(self, name: str, told: dict[str, Any], text: str, expected: dict[str, str]) -> None:
        self.name = name
        self.told = told
        self.text = text
        self.expected: Spans = {file: _bytes(file, lines) for file, lines in expected.items()}


def _bytes(file: str, lines: str) -> tuple[tuple[int, int], ...]:
    """`all`, `bytes a-b …`, or lines `a-b c …` of a file as byte ranges."""
    data = FILES[file]
    if lines == ALL:
        return ((0, len(data)),)
    if lines.startswith("bytes "):
        pairs = [pair.split("-") for pair in lines.removeprefix("bytes ").split()]
        return tuple((int(start), int(end)) for start, end in pairs)
    ends = [0]
    for line in data.split(b"\n"):
        ends.append(min(ends[-1] + len(line) + 1, len(data)))
    spans = [(part.partition("-")[0], part.partition("-")[2] or part) for part in lines.split()]
    return merged((ends[int(first) - 1], ends[int(last)]) for first, last in spans)


def captured(host: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{host}.jsonl").read_text("utf-8").splitlines()]


def _local(path: str) -> str:
    return path.removeprefix(f"{PROJECT}/")


def claude_cases() -> Iterator[Case]:
    greps = iter(GREPS.items())
    for call in captured("claude-code"):
        given, response = call["tool_input"], call.get("tool_response")
        text = response_text(response)[0]
        told = claude_code_shown(call["tool_name"], given, response, text, call["cwd"])
        match call["tool_name"]:
            case "Read":
                window = [str(given.get(key, "-")) for key in ("offset", "limit")]
                name = " ".join([_local(given["file_path"]), *window]).removesuffix(" -").removesuffix(" -")
                yield Case(f"Read {name}", told, text, READS[name])
            case "Grep":
                name, expected = next(greps)
                assert name.startswith(given["pattern"])
                yield Case(f"Grep {name}", told, text, expected)
            case _:
                yield Case(given["command"], told, text, CLAUDE_COMMANDS[given["command"]])


def codex_cases() -> Iterator[Case]:
    for call in captured("codex"):
        command, text = call["tool_input"]["command"], call["tool_response"]
        told = codex_shown(call["tool_name"], call["tool_input"], text, call["cwd"])
        yield Case(command, told, text, CODEX_COMMANDS[command])


def gemini_cases() -> Iterator[Case]:
    for call in captured("gemini-cli"):
        given, content = call["tool_input"], call["tool_response"]["llmContent"]
        said = [_local(str(given[key])) for key in ("file_path", "command", "pattern") if key in given]
        lines = [str(given.get(key, "-")) for key in ("start_line", "end_line")]
        name = " ".join([call["tool_name"], *said, *(lines if lines != ["-", "-"] else [])])
        told = {} if "error" in call["tool_response"] else gemini_shown(call["tool_name"], given, content, call["cwd"])
        yield Case(name, told, gemini_output(content), GEMINI[name])


def shows(case: Case, files: dict[str, bytes]) -> Spans:
    """The byte ranges that a captured result showed of these files, by name; a stale file has none."""
    spans: Spans = {}
    for window in [one for one in [case.told.get("read"), *case.told.get("reads", ())] if one is not None]:
        assert isinstance(window, ReadWindow)
        span = window_bytes(files[_local(window.path)], window)
        spans[_local(window.path)] = merged([span] if span else [])
    printed: list[tuple[Printing, list[dict[str, File]]]] = []
    there = {f"{PROJECT}/{name}": File(name, data) for name, data in files.items()}
    for printing in case.told.get("printed", ()):
        for one, choices in meant(printing, case.text, lambda base, pattern: matching(base, pattern, files)):
            printed.append(
                (one, [{n: there[normpath(p)] for n, p in paths.items() if normpath(p) in there} for paths in choices])
            )
    for result in shown(printed, case.text):
        for name, ranges in result.spans.items():
            spans[name] = merged((*spans.get(name, ()), *ranges))
    return {name: ranges for name, ranges in spans.items() if ranges}


def matching(base: str, pattern: str, files: dict[str, bytes]) -> list[str]:
    """The names that a pattern stands for among files that are not on a disk."""
    assert (base, pattern) == (PROJECT, "notes/*.md")
    return sorted(name for name in files if name.startswith("notes/"))


CASES = {
    "claude-code": list(claude_cases()),
    "codex": list(codex_cases()),
    "gemini-cli": list(gemini_cases()),
}
