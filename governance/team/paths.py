"""Paths of a repository's memory: which names are safe on every system, and where a plan may write. Pure.

A repository is anybody's: its names come with git from other systems, and may have been made to be taken for others.
"""

import re
import unicodedata

from governance.team.files import DOCTRINE, ENTRIES, SCENES, SKILL_FILE, SKILLS
from governance.team.formats import MARKER

LONGEST_NAME, LONGEST_PATH = 255, 1_024  # UTF-8 bytes
DEEPEST = 16

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_SPECIAL = re.compile(r'[\\:*?"<>|%$`!;&\'(){}\[\]^#~]')  # of shells, patterns, addresses and other systems
_DEVICE = re.compile(r"(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_GIT = re.compile(r"\.?git(?:~[0-9]+)?|\.git(?:ignore|attributes|modules)")
_MARKDOWN = ".md"
_INSTRUCTIONS = frozenset({"agents.md", "claude.md", "claude.local.md", "gemini.md", "copilot-instructions.md"})
_SKILL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def folded(name: str) -> str:
    """What a name is on a file system that tells neither case nor forms of letters apart, and shows no hidden ones."""
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", unicodedata.normalize("NFKC", name))).casefold().rstrip(". ")


def is_git_name(name: str) -> bool:
    """Whether a name is, or passes for, one that git keeps for itself."""
    return _GIT.fullmatch(folded(name)) is not None and folded(name) != "git"


def unsafe(path: str) -> str | None:
    """Why a relative path of a memory may not be used; None: it may. Names are asked one by one, none is made good."""
    if not path or path.startswith("/"):
        return "The path is empty, or absolute."
    if len(path.encode("utf-8", "surrogatepass")) > LONGEST_PATH:
        return f"The path has more than {LONGEST_PATH} bytes."
    names = path.split("/")
    if len(names) > DEEPEST:
        return f"The path has more than {DEEPEST} steps."
    return next((problem for name in names if (problem := unsafe_name(name))), None)


def unsafe_name(name: str) -> str | None:
    """Why a name may not stand in a path; None: it may."""
    if not name or not folded(name).strip(". "):
        return "A step of the path is empty, or leads up."
    if _UNSEEN.search(name):
        return "A name holds a character that cannot be seen."
    if len(name.encode()) > LONGEST_NAME:
        return f"A name has more than {LONGEST_NAME} bytes."
    if unicodedata.normalize("NFKC", name) != name:
        return "A name is not written in its plain form: another one would look the same."
    if unicodedata.normalize("NFKC", "".join(map(_plain, name))) != name:
        return "A name holds a character that looks like `/` or `.`."
    if name[0] in ".-" or name[-1] in ". " or name != name.strip():
        return "A name begins with `.` or `-`, or ends in `.` or a blank."
    if _SPECIAL.search(name):
        return "A name holds a character that shells, patterns or other systems read in their own way."
    if _DEVICE.fullmatch(name) or is_git_name(name):
        return "The name is kept by git, or by some system for a device."
    if folded(name) in _INSTRUCTIONS:
        return "Agent products read a file of this name as instructions."
    if folded(name).endswith(_MARKDOWN) and not name.endswith(_MARKDOWN):
        return "A name ends in `.md`, in lower case."
    return None


def target(path: str, memory_root: str) -> str | None:
    """Why a plan may not write at this path, relative to the worktree's top; None: it may."""
    if not path.startswith(f"{memory_root}/"):
        return f"The path is not below {memory_root}."
    below = path.removeprefix(f"{memory_root}/")
    if problem := unsafe(below):
        return problem
    match below.split("/"):
        case [only] if only == DOCTRINE:
            return None
        case [folder, name] if folder in (ENTRIES, SCENES) and _is_markdown(name):
            return None
        case [folder, name, file] if folder == SKILLS and file == SKILL_FILE and _SKILL.fullmatch(name):
            return None
    return f"Files of a memory are {ENTRIES}/*.md, {SCENES}/*.md, {DOCTRINE} and {SKILLS}/<name>/{SKILL_FILE}."


def in_the_making(name: str) -> bool:
    """Whether a promotion gave this name to a file, or somebody who wants to be taken for one."""
    return folded(name).startswith(f".{MARKER}-")


def _is_markdown(name: str) -> bool:
    return name.endswith(_MARKDOWN) and len(name) > len(_MARKDOWN)


def _plain(character: str) -> str:
    return _LOOK_ALIKES.get(character, character)


_LOOK_ALIKES = {
    **dict.fromkeys("\u2044\u2215\u29f8\u29f5\u2216\u27cb\u27cd\u2571\u2572", "/"),
    **dict.fromkeys("\u2024\u2025\u2026\u0701\u0702\ua4f8", "."),
}
