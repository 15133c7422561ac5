"""Home folders in a text: whose they are is nobody else's affair, so the name of the user goes (team.md 5, 11). Pure.

A home folder is spelled in many ways: as an address of a file, behind an option of a compiler, as another system sees
it from outside, in JSON or in an address with its slashes escaped. Linear in the text.
"""

import re

HOME = "~"

_NAME = r"[^\s/\\:\"'`<>|*?,;()\[\]{}]+"
_NEITHER = r"(?<![\w.~/\\-])"  # what stands before: a longer path, or an address of the web, is none
# Where homes lie for other systems: drives as shells for Windows name them, and places behind links.
_BELOW = r"(?:/(?:mnt|cygdrive)/[A-Za-z]|/[A-Za-z]|/(?:var|export|private|usr|mnt)|/System/Volumes/Data)?"
_FOLDER = rf"/(?:home|Users(?!/+Shared\b))/{{1,2}}{_NAME}"
_SLASH = r"(?:\\{1,4}|/{1,2})"
_POSIX = re.compile(
    rf"(?=[/\\%f])(?:file://(?:localhost)?{_BELOW}(?=/){_FOLDER}"
    rf"|(?:{_NEITHER}|(?<=[\s\"'`=,]-[A-Za-z])|(?<=^-[A-Za-z])){_BELOW}{_FOLDER}"
    rf"|(?<![\w.~/\\:-])/{{2,3}}(?:home|Users)/{{1,2}}{_NAME}"
    rf"|{_NEITHER}\\/(?:home|Users)\\/{_NAME}"
    rf"|(?:(?<![\w.])|(?<=%2[Ff])|(?<=%3[Aa]))%2[Ff](?:home|Users)%2[Ff][^%\s/\\\"'`&?#<>]+"
    rf"|\\{{2,4}}wsl(?:\$|\.localhost)\\{{1,2}}[\w.-]{{1,40}}\\{{1,2}}home\\{{1,2}}{_NAME})",
    re.MULTILINE,
)
_WINDOWS = re.compile(rf"(?<!\w)[A-Za-z]:{_SLASH}(?i:users){_SLASH}{_NAME}")
_SIGNS = ("home", "Users", "users", "USERS")  # what is not in a line is not looked for


def without_homes(text: str) -> str:
    """The text with `~` for every home folder that has a user's name in it."""
    if not any(sign in text for sign in _SIGNS):
        return text
    return "\n".join(_line(line) if any(sign in line for sign in _SIGNS) else line for line in text.split("\n"))


def _line(line: str) -> str:
    found = _WINDOWS.sub(HOME, line) if ":" in line else line
    return _POSIX.sub(HOME, found)
