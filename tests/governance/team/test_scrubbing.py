"""What is about this machine is told in other words; everything else stays."""

import msgspec
import pytest

from governance.team.contracts.turns import TurnContent
from governance.team.scrubbing import scrubber
from tests.support.team_recall import a_turn

ROOT = "/home/kim/code/heron"
SUPERUSER = "/root"  # its home
UUID = "0f2b6c1e-9a77-4c1e-8f0a-1c2d3e4f5a6b"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{ROOT}/src/app.py:12", "src/app.py:12"),
        (f'{{"file_path":"{ROOT}/src/app.py","cwd":"{ROOT}"}}', '{"file_path":"src/app.py","cwd":"."}'),
        (f"cd {ROOT} && make", "cd . && make"),
        (f"file://{ROOT}/a.txt", "a.txt"),
        (f"{ROOT}\n{ROOT}/x", ".\nx"),
        (f"{ROOT}-other/x", "~/code/heron-other/x"),
        ("/home/kim/.config/x", "~/.config/x"),
        ("/Users/kim", "~"),
        ("'/Users/kim/x y'", "'~/x y'"),
        ("C:\\Users\\kim\\x", "~\\x"),
        ("C:\\\\Users\\\\kim\\\\x", "~\\\\x"),
        (f"{SUPERUSER}/.ssh/config and {SUPERUSER}", "~/.ssh/config and ~"),
        ("/rooted/x /var/log/syslog /etc/nginx/nginx.conf", "/rooted/x /var/log/syslog /etc/nginx/nginx.conf"),
        ("see src/home/kim/x and ./Users/kim", "see src/home/kim/x and ./Users/kim"),
        (f"~/.claude/projects/-home-kim-code-heron/{UUID}.jsonl", "~/.claude/projects/<project>/<session>.jsonl"),
        (f"~/.codex/sessions/2026/05/28/rollout-2026-05-28T20-26-40-{UUID}.jsonl", None),
        (f'"session_id": "{UUID}"', '"session_id": "<session>"'),
        (f"claude --resume {UUID}", "claude --resume <session>"),
        (f"CLAUDE_SESSION_ID={UUID}", "CLAUDE_SESSION_ID=<session>"),
        (f"**Session ID:** `{UUID}`", "**Session ID:** `<session>`"),
        (f"-rw 1 dev {UUID}.jsonl", "-rw 1 dev <session>.jsonl"),
        (f"the order {UUID} failed", f"the order {UUID} failed"),
        ("file:///home/kim/x -I/home/kim/include", "~/x -I~/include"),
        ("/mnt/c/Users/kim/x", "~/x"),
        ("nothing to tell", "nothing to tell"),
    ],
)
def test_paths_and_sessions_are_told_in_other_words(text: str, told: str | None) -> None:
    found = scrubber(ROOT)(text)
    if told is None:
        assert UUID not in found
        assert found.endswith("<session>.jsonl")
    else:
        assert found == told


def test_a_repository_at_the_top_of_the_disk_changes_nothing_else() -> None:
    assert scrubber("/")("/srv/x and / and /home/kim/y") == "/srv/x and / and ~/y"


def test_twice_is_once() -> None:
    text = f"{ROOT}/a {ROOT} /home/kim/b claude --resume {UUID}"
    once = scrubber(ROOT)(text)
    assert scrubber(ROOT)(once) == once


def of(session_id: str = "", folder: str = "") -> TurnContent:
    return msgspec.structs.replace(a_turn(0), session_id=session_id, folder=folder)


def test_the_session_that_the_text_is_of_is_named_nowhere() -> None:
    scrub = scrubber(ROOT, [of(UUID), of("session-12345678")])
    assert scrub(f"echo {UUID} > x; cat {UUID}_1 session-12345678.") == f"echo <session> > x; cat {UUID}_1 <session>."


def test_a_session_with_a_short_name_takes_no_word_away() -> None:
    assert scrubber(ROOT, [of("s-1")])("chapter s-1 is done") == "chapter s-1 is done"


def test_the_top_is_known_as_the_product_spells_it() -> None:
    scrub = scrubber("/private/tmp/heron", [of(folder="/tmp/heron")])
    assert scrub("/tmp/heron/a.py and /private/tmp/heron/b.py in /tmp/heron") == "a.py and b.py in ."


def test_a_folder_below_the_top_or_beside_it_is_no_top() -> None:
    scrub = scrubber(ROOT, [of(folder=f"{ROOT}/src"), of(folder="/srv/other"), of(folder="relative/heron")])
    assert scrub(f"{ROOT}/src/a.py /srv/other/b relative/heron/c") == "src/a.py /srv/other/b relative/heron/c"
