"""Following a transcript while its host writes it, and what is heard of it at hook time.

`begin` and `advance` are the only functions here that touch the disk; both block and belong on a thread. `Overhearing`
is pure. At hook time the hooks tell prompts, calls and results already: of the transcript only the agent's own words,
the hook texts that the host has put before its model, and which version and model speak are taken.
"""

import errno
import os
import stat
from collections.abc import Iterable
from typing import BinaryIO

import msgspec

from host.contracts import Heard
from host.transcripts import claude_words as words
from host.transcripts.claude_missed import Missed
from host.transcripts.claude_rewinds import Rewinds, prompt_text
from host.transcripts.records import (
    MAIN,
    Ids,
    Place,
    Record,
    Spoken,
    blocks_of,
    event,
    millis,
    parse,
    record_of,
    rewound,
    sound,
    text_of,
)
from recall.canonical import bytes_digest, text_digest
from recall.contracts import EventEnvelope, EventType, Frozen, Millis

MARK = 4096  # bytes before the offset whose digest says that the file is still the same
STEP = 8 * 1024 * 1024
LONGEST = 64 * 1024 * 1024  # a longer line is passed over
TALK = frozenset({"user", "assistant", "attachment", "system"})  # beside these stand large records of other things
_NOTHING: Record = {}


class Tail(Frozen, frozen=True, kw_only=True):
    """How far a file was read. `mark`: digest of the last bytes read, the end of the last line. `skipping`: within a
    line that is too long."""

    path: str
    offset: int = 0
    inode: int = 0
    mark: str = ""
    skipping: bool = False


class Overheard(Frozen, frozen=True, kw_only=True):
    """What further lines tell. `parent`: the session that this one was forked from, where the transcript names it."""

    envelopes: tuple[EventEnvelope, ...] = ()
    shown: tuple[str, ...] = ()
    parent: str = ""


def begin(path: str, back: int | None = None) -> Tail:
    """Where to start: at the beginning, or at the first line that starts within the last `back` bytes."""
    try:
        with _opened(path) as file:
            size = file.seek(0, os.SEEK_END)
            offset = 0 if back is None or back >= size else size - back
            if offset:
                file.seek(offset - 1)
                offset += len(file.readline(LONGEST)) - 1
            return Tail(path=path, offset=offset, inode=os.fstat(file.fileno()).st_ino, mark=_mark(file, offset))
    except OSError:
        return Tail(path=path)


def _opened(path: str) -> BinaryIO:
    """A plain file. Of a pipe nobody would ever come back. Raises OSError."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "Not a plain file", path)
    return os.fdopen(number, "rb")


def advance(tail: Tail, max_bytes: int = STEP) -> tuple[tuple[bytes, ...], Tail]:
    """The whole lines added since, with their line ends: about `max_bytes`, but at least one line if there is one.

    An unfinished last line waits. A file that was replaced, cut or rewritten is read again from its beginning; a file
    that is not there has nothing to say.
    """
    try:
        with _opened(tail.path) as file:
            inode = os.fstat(file.fileno()).st_ino
            if tail.offset and (inode != tail.inode or _mark(file, tail.offset) != tail.mark):
                tail = Tail(path=tail.path)
            file.seek(tail.offset)
            data = file.read(max_bytes)
            while b"\n" not in data and len(data) < LONGEST and (more := file.read(STEP)):
                data += more
            end = data.rfind(b"\n") + 1
            taken = end or (len(data) if len(data) >= LONGEST else 0)
            lines = tuple(line + b"\n" for line in data[:end].split(b"\n")[:-1])
            offset = tail.offset + taken
            after = Tail(
                path=tail.path,
                offset=offset,
                inode=inode,
                mark=_mark(file, offset),
                skipping=not end if taken else tail.skipping,
            )
            return lines[1:] if tail.skipping else lines, after
    except OSError:
        return (), tail


def reply(place: Place, prompt_id: str, text: str, message_id: str | None = None, earlier: int = 0) -> EventEnvelope:
    """An assistant message as hook time tells it: from the transcript and from the Stop hook alike, so one event.

    `earlier`: how many messages of the same turn said the same before. The Stop hook does not know: what it tells is
    then the first of them, told already, and the transcript tells the rest.
    """
    speaker = "" if place.agent_id == MAIN else f"{place.agent_id}:"
    number = f":{earlier + 1}" if earlier else ""
    ids = Ids(event=f"reply:{prompt_id}:{speaker}{text_digest(text)[:16]}{number}", message=message_id or None)
    return event(place, EventType.ASSISTANT_MESSAGE, {"text": text}, ids)


class Overhearing:
    """What one Claude Code session's transcript tells beside the hooks: the main agent's texts, and the shown texts.

    Texts written before `since` (epoch ms) are not told. What was written between then and the first reading no hook
    may have told: of that, prompts, calls and results are told too, and later on calls that were refused. A reply that
    calls a tool is one assistant message, told at the call. The texts of any other are told one by one, since the Stop
    hook tells the last of them alone.
    """

    def __init__(self, session_id: str, workspace: str, since: Millis = 0) -> None:
        self._place = Place(session_id=session_id, agent_id=MAIN, workspace=workspace)
        self._since = since
        self._missed = Missed(session_id, workspace, since)
        self._rewinds = Rewinds(_prompt_name)
        self._prompt_id = ""
        self._message_id = ""
        self._texts: list[str] = []
        self._said: dict[str, list[str]] = {}  # of the turn: text -> the messages that said it
        self._spoken = Spoken()
        self._parent = ""

    def hear(self, lines: Iterable[bytes]) -> Overheard:
        """The events and shown texts of further lines. What a compaction among them has wiped is not shown."""
        talk: list[bytes] = []
        envelopes: list[EventEnvelope] = []
        shown: list[str] = []
        latest = _NOTHING
        for line in lines:
            record = parse(line) or {}
            if version := text_of(record, "version"):
                latest = record
                self._spoken.note(version, "")
            self._parent = self._parent or text_of(record_of(record, "forkedFrom"), "sessionId")
            kind = text_of(record, "type")
            if left := self._rewinds.feed(record):
                envelopes += [*self._told(self._texts), *rewound(self._now(record), left)]
            if kind in TALK:
                talk.append(line)
            match kind:
                case "attachment":
                    shown += _shown(record_of(record, "attachment"))
                case "system" if text_of(record, "subtype") == "compact_boundary":
                    shown.clear()
                case "user" if not _aside(record):
                    envelopes += self._told(self._texts)
                    self._prompted(text_of(record, "promptId"))
                case "assistant" if not _aside(record):
                    envelopes += self._replied(record)
        envelopes += self._told(self._texts)
        unheard = self._missed.hear(talk)
        if unheard:  # what a reply says goes before what it calls
            envelopes = sorted([*envelopes, *unheard], key=lambda one: one.timestamp)
        here = self._now(latest)
        envelopes = [*self._spoken.news(here, text_of(latest, "uuid")), *envelopes]
        return Overheard(envelopes=tuple(envelopes), shown=tuple(shown), parent=self._parent)

    def _now(self, record: Record) -> Place:
        at = millis(record.get("timestamp"))
        return msgspec.structs.replace(self._place, at=self._place.at if at is None else at)

    def placed(self, heard: Heard) -> Heard:
        """The hook call as it came: this product's hooks say all there is to know. What it tells is not missed."""
        self._missed.note(heard)
        return heard

    def _replied(self, record: Record) -> list[EventEnvelope]:
        message = record_of(record, "message")
        self._spoken.note("", text_of(message, "model"))
        message_id = text_of(message, "id") or text_of(record, "uuid")
        told = self._told(self._texts) if message_id != self._message_id else []
        self._message_id = message_id
        self._place = self._now(record)
        if self._place.at < self._since:
            return told
        blocks = blocks_of(message.get("content"))
        self._texts += [text.strip() for block in blocks if (text := text_of(block, "text")).strip()]
        if any(text_of(block, "type") == "tool_use" for block in blocks):
            told += self._told(["\n".join(self._texts)] if self._texts else [])
        return told

    def _prompted(self, prompt_id: str) -> None:
        if prompt_id and prompt_id != self._prompt_id:
            self._prompt_id = prompt_id
            self._said.clear()

    def _told(self, texts: list[str]) -> list[EventEnvelope]:
        self._texts = []
        return [reply(self._place, self._prompt_id, text, self._message_id, self._earlier(text)) for text in texts]

    def _earlier(self, text: str) -> int:
        """How many other messages of the turn said this before. The same message heard again is the same."""
        said = self._said.setdefault(text, [])
        if self._message_id not in said:
            said.append(self._message_id)
        return said.index(self._message_id)


def _prompt_name(record: Record) -> str:
    """The id that a prompt's hook gave its event."""
    prompt_id = text_of(record, "promptId")
    return f"prompt:{prompt_id}:{text_digest(sound(prompt_text(record)))[:16]}" if prompt_id else ""


def _aside(record: Record) -> bool:
    """Whether a record is not the main agent's own: a subagent's, or made up by the harness after an error."""
    synthetic = text_of(record_of(record, "message"), "model") == "<synthetic>"
    return record.get("isSidechain") is True or record.get("isApiErrorMessage") is True or synthetic


def _shown(attachment: Record) -> list[str]:
    """What hooks have put before the model, as the host wrote it down: at once, or from the background."""
    match text_of(attachment, "type"):
        case "hook_additional_context":
            return words.texts_of(attachment.get("content"))
        case "async_hook_response":
            output = record_of(record_of(attachment, "response"), "hookSpecificOutput")
            return words.texts_of(output.get("additionalContext"))
    return []


def _mark(file: BinaryIO, offset: int) -> str:
    """Digest of the bytes just before `offset`; empty at the beginning."""
    start = max(0, offset - MARK)
    file.seek(start)
    return bytes_digest(file.read(offset - start)) if offset else ""
