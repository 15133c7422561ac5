"""`memory.edit`: a person changes a memory's words. It is made to what they saw, or not at all."""

import asyncio

import msgspec
from msgspec import UNSET, UnsetType

from governance.procedures import written_risk
from governance.review import Principal
from host.connection import Peer
from host.corrections import Corrections
from host.lifecycle import kept_back
from host.parts import Parts
from host.principals import principal
from host.protocol import Request, decode_params
from host.verbs import (
    Clean,
    Table,
    Words,
    bounded,
    clean,
    in_future,
    not_written,
    noted,
    put,
    reach,
    visible,
)
from recall.contracts import Flag, Frozen, MemoryKind, MemoryRecord, Millis, Risk
from recall.files import RefusalKind, Refused

CLEARED = frozenset({Flag.QUARANTINED, Flag.RECHECK, Flag.CORRECTED})  # by a person who writes the text anew


class EditParams(Frozen, frozen=True, kw_only=True):
    """`expected`: the record digest that the change was made to. A field that is left out stays; null takes it away.
    `principal`: who the client says it is; new words of a person settle a correction."""

    memory_id: str
    expected: str
    workspace: str = ""
    text: str | UnsetType = UNSET
    title: str | UnsetType | None = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    kind: MemoryKind | UnsetType = UNSET
    expires: Millis | UnsetType | None = UNSET
    principal: Principal = Principal.AGENT


class Edited(Frozen, frozen=True, kw_only=True):
    memory_id: str
    file: str
    record_digest: str
    changed: bool
    redacted: tuple[str, ...]
    quarantined: bool
    risk_level: Risk = Risk.LOW


class Edit:
    """One record at a time, in its own place."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {"memory.edit": self._edit}

    async def _edit(self, request: Request, peer: Peer) -> Edited:
        params = decode_params(request, EditParams)
        scope = await reach(self._parts, params.workspace)
        async with self._parts.writing:
            record, locator = await visible(self._parts, params.memory_id, scope)
            if locator.record_digest != params.expected:
                problem = f"{record.memory_id} was changed by someone else meanwhile."
                raise not_written(Refused(kind=RefusalKind.CONFLICT, problem=problem))
            if params.expires is not UNSET:
                in_future(params.expires, self._parts.clock.now())
            bounded(_given(params))
            words = await clean(_edited_words(record, params))
            wanted = _edited(record, params, words)
            if wanted != record:
                locator = await put(self._parts, wanted, locator, scope)
                await noted(self._parts, "edited", [record.memory_id])
                await kept_back(self._parts, [wanted])
                if wanted.text != record.text and not words.poisoned:
                    await self._settled(record, params, peer)
        return Edited(
            memory_id=record.memory_id,
            file=locator.source_file,
            record_digest=locator.record_digest,
            changed=wanted != record,
            redacted=words.redacted,
            quarantined=Flag.QUARANTINED in wanted.flags,
            risk_level=wanted.risk_level if wanted.kind is MemoryKind.PROCEDURAL else Risk.LOW,
        )

    async def _settled(self, record: MemoryRecord, params: EditParams, peer: Peer) -> None:
        """A person who writes a corrected memory anew has looked at it."""
        if record.memory_id in self._parts.marks.withheld([record.memory_id]):
            actor = await asyncio.to_thread(principal, params.principal, peer.pid)
            if actor is Principal.HUMAN:
                await Corrections(self._parts).clear(record.memory_id)


def _given(params: EditParams) -> Words:
    """The words of the edit alone: what is left out was kept once, and is not measured again."""
    return Words(
        text="-" if params.text is UNSET else params.text,
        title=None if params.title is UNSET else params.title,
        tags=() if params.tags is UNSET else params.tags,
    )


def _edited_words(record: MemoryRecord, params: EditParams) -> Words:
    """The record's words with the changes. A title that was the text's own heading goes with the text."""
    text = record.text if params.text is UNSET else params.text
    heading = record.text.partition("\n")[0].lstrip("# ").rstrip("# ")
    kept = None if text != record.text and record.title == heading else record.title
    return Words(
        text=text,
        title=kept if params.title is UNSET else params.title,
        tags=record.tags if params.tags is UNSET else params.tags,
    )


def _edited(record: MemoryRecord, params: EditParams, words: Clean) -> MemoryRecord:
    flags = record.flags
    if words.text != record.text or words.title != record.title:
        flags = tuple(flag for flag in flags if flag not in CLEARED)
    if words.poisoned and Flag.QUARANTINED not in flags:
        flags = (*flags, Flag.QUARANTINED)
    kind = record.kind if params.kind is UNSET else params.kind
    anew = (words.text, kind) != (record.text, record.kind)
    return msgspec.structs.replace(
        record,
        text=words.text,
        title=words.title,
        tags=words.tags,
        kind=kind,
        risk_level=written_risk(kind, words.text, record.risk_level) if anew else record.risk_level,
        expires_at=record.expires_at if params.expires is UNSET else params.expires,
        flags=flags,
    )
