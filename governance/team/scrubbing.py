"""What of a turn's text is about this machine and not about the work: it is put in other words (team.md 5). Pure.

A path below the worktree is told from its top, a home folder is `~`, and the name that a product gave a session is
`<session>`. Nothing is left out by this, and speech keeps every other character.
"""

import re
from collections.abc import Callable, Iterable

from governance.team.contracts.turns import TurnContent
from governance.team.homes import HOME, without_homes

SHORTEST_ID = 8  # characters of a session's name: a shorter one may be a word of any text
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# Where products name their sessions: files of theirs, fields, options and variables.
_SESSION = re.compile(
    rf"(?P<before>(?:projects|sessions|rollout)[^\s\"'`]{{0,200}}?"
    rf"|(?:session|thread|conversation|rollout)[_ -]?id[\s\"'`*:=]{{0,8}}"
    rf"|(?:--resume|--session-id|--continue|--fork-session|\bresume)[ =]{{1,3}}[\"']?){_UUID}"
    rf"|{_UUID}(?=\.jsonl)",
    re.IGNORECASE,
)
_ANY_UUID = re.compile(_UUID)
_PROJECTS = ".claude/projects/"
_PROJECT = re.compile(r"(?<=\.claude/projects/)-[\w.-]+")  # its name is the path of a folder
# The home of the one who may do all.
_SUPERUSER = re.compile(r"(?<![\w./\\-])/root(?=[/\s\"'`:;,)(<>|]|$)")
_AFTER_ROOT = r"(?=[/\s\"'`:;,)\]}(<>|]|\\n|$)"

Scrub = Callable[[str], str]


def scrubber(root: str, contents: Iterable[TurnContent] = ()) -> Scrub:
    """For texts of these turns in the worktree whose top has the real path `root`. What it gives is linear in time."""
    told = tuple(contents)
    ids = sorted({one.session_id for one in told if len(one.session_id) >= SHORTEST_ID})
    tops = sorted({root, *(one.folder for one in told if _is_top(one.folder, root))}, key=len, reverse=True)
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ids))})(?!\w)") if ids else None
    places = [_Top(top.rstrip("/")) for top in tops if top.rstrip("/")]  # of the top of the disk nothing is left

    def scrub(text: str) -> str:
        """What cannot be in the text is not looked for: most texts name no place."""
        for place in places:
            text = place(text)
        text = without_homes(text)
        if "/root" in text:
            text = _SUPERUSER.sub(HOME, text)
        if _PROJECTS in text:
            text = _PROJECT.sub("<project>", text)
        if named is not None:
            text = named.sub("<session>", text)
        return _SESSION.sub(_unnamed, text) if "-" in text and _ANY_UUID.search(text) else text

    return scrub


class _Top:
    """The top of a worktree: what lies below is told from it, and it is a dot itself."""

    def __init__(self, path: str) -> None:
        self._path = path
        start = rf"(?:file://)?(?<![\w.-]){re.escape(path)}"
        self._below = re.compile(rf"{start}/(?=\S)")
        self._itself = re.compile(start + _AFTER_ROOT)

    def __call__(self, text: str) -> str:
        return self._itself.sub(".", self._below.sub("", text)) if self._path in text else text


def _is_top(folder: str, root: str) -> bool:
    """Whether a session's folder is the top, spelled over a link: it bears the same name, and is no folder below."""
    return folder.startswith("/") and folder.rpartition("/")[2] == root.rpartition("/")[2] != ""


def _unnamed(match: re.Match[str]) -> str:
    return f"{match['before'] or ''}<session>"
