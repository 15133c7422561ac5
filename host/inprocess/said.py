"""What a framework lists before a request, in one form for all of them: entries, their places, and how they are named.
Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from host.frame import cut_packets, tags
from host.protocol import IDENTIFIER
from recall.canonical import text_digest
from recall.contracts import Frozen

TEXT_CHARACTERS = 100_000  # of one text: more than the log keeps
PATHS = ("path", "file_path", "filename", "file")  # arguments that name the file a call is about
SHELLS = frozenset({"bash", "shell", "terminal", "run_command", "run_shell_command", "execute_command", "local_shell"})


class Part(StrEnum):
    """What an entry of the list is. A summary stands for entries that are gone."""

    PROMPT = "prompt"
    REPLY = "reply"
    CALL = "call"
    RESULT = "result"
    SUMMARY = "summary"


class Said(Frozen, frozen=True, kw_only=True):
    """One entry. `key`: the framework's own id for it, empty when there is none; of a call and its result the call's
    id. `arguments`: of a call, as the model gave them. `user`: whether a person wrote the prompt."""

    part: Part
    key: str = ""
    text: str = ""
    tool: str = ""
    arguments: object = None
    ok: bool | None = None
    user: bool = True


class Listing(Frozen, frozen=True, kw_only=True):
    """The conversation at one request. `anchors`: the places in it, oldest first, each once. `model`: as it is named.

    `placed`: what the framework kept of texts that were handed over before this process had the conversation.
    `keeps`: it keeps them in the list itself, and `anchors` are their tags. `whole`: the list is all that the model is
    shown, so that a place that is missing is gone.
    """

    session: str
    said: tuple[Said, ...]
    anchors: tuple[str, ...]
    model: str = ""
    placed: tuple["Placed", ...] = ()
    keeps: bool = False
    whole: bool = True


class Placed(Frozen, frozen=True, kw_only=True):
    """A text that was handed over, and the place after which it stands."""

    after: str
    text: str
    packet_id: str = ""
    claim_id: str = ""


def ours(text: str) -> bool:
    """Whether a text is a packet and nothing else: nobody has said it."""
    return bool(tags(text)) and not cut_packets(text).strip()


def numbered(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once: a later one that is like an earlier one gets its number."""
    before: Counter[str] = Counter()
    each = []
    for name in names:
        before[name] += 1
        each.append(name if before[name] == 1 else f"{name}#{before[name]}")
    return tuple(each)


def identifier(name: str) -> str:
    """The name as the wire takes it: one that it does not take gives way to a digest of it."""
    if IDENTIFIER.fullmatch(name):
        return name
    kind, colon, _ = name.partition(":")
    digest = text_digest(clip(name))[:32]
    return f"{kind}:{digest}" if colon and IDENTIFIER.fullmatch(kind) and len(kind) <= 32 else digest


def clip(text: str) -> str:
    """The text in valid Unicode, the middle left out when it is longer than TEXT_CHARACTERS."""
    if len(text) > TEXT_CHARACTERS:
        text = f"{text[: TEXT_CHARACTERS * 3 // 4]}\n…\n{text[-TEXT_CHARACTERS // 4 :]}"
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def neutral(tool: str) -> str:
    """The tool's name; `shell` for one that runs a command line."""
    return "shell" if tool.lower() in SHELLS else tool


def called(tool: str, arguments: object) -> dict[str, object]:
    """Payload of a tool's call: `args` says in plain text what is about to be done."""
    told: dict[str, object] = {"tool": neutral(tool), "nativeTool": tool}
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, UnicodeEncodeError):
            return told | {"args": arguments}
    if not isinstance(arguments, dict):
        return told if arguments is None else told | {"args": _json(arguments)}
    line = _command(arguments) if neutral(tool) == "shell" else ""
    if line:
        return told | {"args": line}
    texts = [value for value in arguments.values() if isinstance(value, str)]
    alone = len(arguments) == 1 and len(texts) == 1
    path = next((value for key in PATHS if isinstance(value := arguments.get(key), str)), None)
    return told | {"args": texts[0] if alone else _json(arguments), "path": path}


def _command(arguments: Mapping[str, object]) -> str:
    """The command line of a shell's call, or its lines; empty when it is named otherwise."""
    for name, joint in (("command", " "), ("cmd", " "), ("commands", "\n")):
        given = arguments.get(name)
        if isinstance(given, str):
            return given
        if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
            return joint.join(given)
    return ""


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (TypeError, ValueError):
        return str(value)
