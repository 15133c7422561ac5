"""An event of the log as turns see it (team.md 4). Pure.

Texts go through what formation's go through: packets of ours and blocks of other tools are cut, text in the user's role
that a machine wrote is no user's. Calls of our own tools are left out, with what they answered: a memory made of what
memory said would say it again.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from governance.team.turns import Heard, Mark, Part
from host.formation.authored import asks_for_forming, authored
from host.namespace import tool
from host.observer import clean
from host.transcripts.records import MAIN, REWOUND
from recall.canonical import bytes_digest, text_digest
from recall.contracts import EventEnvelope, EventType, Frozen, SourceKind

IMAGE = "[image]"
LONGEST_SKILL = 64
# What products write into the user's role when a turn is broken off.
_ABORTED = re.compile(r"\[Request interrupted by user|<turn_aborted>")
_SKILL_FILE = re.compile(r"[/\\]skills[/\\]([\w.-]{1,64})[/\\]SKILL\.md")
_SKILL_TOOLS = frozenset(["Skill", "skill"])
_OURS = re.compile(rf"(?:^|[_:.]){tool('memory_[a-z_]+')}$")


class Told(Frozen, frozen=True, kw_only=True):
    """What is read of a payload."""

    text: str = ""
    tool: str | None = None
    native_tool: str | None = None
    args: str | None = None
    path: str | None = None
    ok: bool | None = None
    denied: bool = False
    images: int = 0
    command: str | None = None
    aborted: bool = False
    events: tuple[str, ...] = ()
    turns: int = 0
    truncated: tuple[msgspec.Raw, ...] = ()


class SkillCall(Frozen, frozen=True, kw_only=True):
    """The arguments with which products load a skill."""

    skill: str = ""
    name: str = ""
    command: str = ""


_told = msgspec.json.Decoder(Told)
_skill_call = msgspec.json.Decoder(SkillCall)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


def own_agent(first: EventEnvelope | None) -> str:
    """The session's own agent: `main`, or the one that spoke first, unless another one spawned it."""
    if first is None or first.event_type == EventType.AGENT_SPAWN:
        return MAIN
    return first.agent_id


def hear(event: EventEnvelope, agent: str, *, deep: bool = False) -> Heard | None:
    """What an event is for a turn of that agent's session; None: nothing. `deep`: with the texts of tools."""
    if event.agent_id not in (agent, MAIN):
        return None
    match event.event_type:
        case EventType.USER_MESSAGE:
            return _user(event)
        case EventType.ASSISTANT_MESSAGE:
            told, readable = _read(event)
            text = clean(told.text)
            if not text and readable:
                return None
            return _heard(event, "assistant", told, text=text, readable=readable)
        case EventType.TOOL_CALL | EventType.TOOL_RESULT:
            return _tool(event, deep=deep)
        case EventType.TURN_END:
            return _heard(event, "aborted" if _read(event)[0].aborted else "ended", Told())
        case _ if event.event_type == REWOUND:
            told, _ = _read(event)
            if told.turns > 0:
                return msgspec.structs.replace(_heard(event, "rolled-back", told), turns=told.turns)
            return msgspec.structs.replace(_heard(event, "rewound", told), events=told.events)
    return None


def is_ours(name: str) -> bool:
    """Whether a tool is one of our own server's, whatever a product puts before its name."""
    return _OURS.search(name) is not None


def _user(event: EventEnvelope) -> Heard | None:
    told, readable = _read(event)
    if event.source_kind is not SourceKind.USER:
        broken_off = event.source_kind is SourceKind.LIFECYCLE and _ABORTED.match(told.text.lstrip())
        return _heard(event, "aborted", told) if broken_off else None
    if not readable:
        return _heard(event, "user", told, readable=False)
    text = authored(told.text)
    if not text and not told.text.strip() and told.images:
        text = IMAGE
    if not text:
        return _heard(event, "apart", told) if asks_for_forming(told.text) else None
    skills = (told.command.lstrip("/"),) if told.command else ()
    return msgspec.structs.replace(_heard(event, "user", told, text=text), skills=skills)


def _tool(event: EventEnvelope, *, deep: bool) -> Heard | None:
    told, readable = _read(event)
    name, native = told.tool or "", told.native_tool or ""
    if is_ours(name) or is_ours(native):
        return None
    call = event.event_type == EventType.TOOL_CALL
    said = (told.args or told.text or told.path or "") if call else told.text
    text = clean(said) if deep else ""
    heard = _heard(event, "tool-call" if call else "tool-result", told, text=text, readable=readable)
    return msgspec.structs.replace(
        heard,
        name=name,
        native=native,
        call_id=event.call_id or "",
        about=text_digest(told.path or told.args or "")[:16] if told.path or told.args else "",
        ok=told.ok,
        denied=told.denied,
        skills=tuple(_skills(told)) if call else (),
    )


def _skills(told: Told) -> Iterator[str]:
    """The skills that a call loads: by the tool for it, or by reading its file."""
    if told.native_tool in _SKILL_TOOLS or told.tool in _SKILL_TOOLS:
        try:
            given = _skill_call.decode(told.args or "{}")
        except msgspec.DecodeError:
            given = SkillCall(name=told.args or "")
        name = (given.skill or given.name or given.command).strip().lstrip("/")
        if name and len(name) <= LONGEST_SKILL:
            yield name
    yield from dict.fromkeys(_SKILL_FILE.findall(f"{told.path or ''}\n{told.args or ''}"))


def _heard(event: EventEnvelope, kind: Part | Mark, told: Told, *, text: str = "", readable: bool = True) -> Heard:
    return Heard(
        kind=kind,
        event_seq=event.event_seq,
        event_id=event.event_id or "",
        digest=bytes_digest(bytes(event.payload)),
        at=event.timestamp,
        observed_at=event.observed_at,
        text=text,
        folder=event.workspace,
        whole=not told.truncated,
        readable=readable,
    )


def _read(event: EventEnvelope) -> tuple[Told, bool]:
    """The payload, and whether it can be read. A field in another form than ours costs only itself."""
    try:
        return _told.decode(event.payload), True
    except msgspec.DecodeError:
        pass
    try:
        fields = _fields.decode(event.payload)
    except msgspec.DecodeError:
        return Told(), False
    return _patient(fields), True


def _patient(fields: Mapping[str, msgspec.Raw]) -> Told:
    kept: dict[str, msgspec.Raw] = {}
    for name in Told.__struct_encode_fields__:
        if name in fields:
            try:
                _told.decode(msgspec.json.encode({name: fields[name]}))
            except msgspec.DecodeError:
                continue
            kept[name] = fields[name]
    return _told.decode(msgspec.json.encode(kept))
