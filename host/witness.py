"""What an event says about memories that its session knows: the glue between events and the rules of evidence (G-01).

Only what the session's own agent does, and what the user says to it, is looked at; nothing of an incognito session.
Our own packets are cut out first, and calls of our own tool count for nothing: who looks a memory up, or says what he
thinks of it, has not used it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from governance.contracts import AccessEvidence, EvidenceKind
from governance.evidence import Given, Occasion, named, of_event, of_read
from governance.evidence_rules import (
    DIGEST,
    Hits,
    Quotable,
    Shown,
    acts_on_its_own,
    advice,
    corrected,
    digests_in,
    reuses,
    telling_command,
    telling_file,
    telling_name,
    terms_of,
)
from governance.evidence_words import complaint, confirms
from host.asked import told_by
from host.frame import cut_packets
from host.gate_words import corrects
from host.known import Index, Known, Met, Traits
from host.namespace import name
from host.observer import LONGEST, clean
from host.outcomes import LONGEST_COMMAND, SHELL, Facts, acts, facts, opened, run
from host.reading import reads_files, shown_by, understood
from host.runtime import SessionRuntime
from host.trace import Owner
from recall.analyzer import entities
from recall.contracts import (
    EventEnvelope,
    EventPayload,
    EventType,
    MemoryRecord,
    Segment,
    SegmentKind,
    SourceKind,
)
from recall.errors import IndexFault
from recall.library import Library

Rows = tuple[AccessEvidence, ...]

LONGEST_SAID = 8_192  # characters of a message that are looked through for quotations
IDENTIFIERS = 64  # of a record
NAMED_AT_ONCE = 8  # memories that one message names
RECENT = 2  # how often the user may have spoken since a record was shown that his words correct
CITED = 32  # entries of a citation block
_SAID = frozenset({SegmentKind.PROMPT, SegmentKind.REPLY})
_CITES = "<oai-mem-citation>"
_CITED_UP_TO = "</oai-mem-citation>"
_CITATION = re.compile(r"^[ \t]*([^\n|:]{1,512}):(\d{1,7})(?:-(\d{1,7}))?(?:\|[^\n]*)?$", re.MULTILINE)
_DOCUMENT = re.compile(r"<<-?[ \t]*['\"]?(\w+)['\"]?.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_DIVIDES = re.compile(r"[;&|\n]")
_payload = msgspec.json.Decoder(EventPayload)


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """Forms the evidence of an event. `memories`: the folder that Codex's citations start from. Not `enabled`: what was
    read still counts as read in this run, and nothing is kept."""

    library: Library
    owner: Callable[[SessionRuntime], Owner]
    enabled: bool = True
    memories: Path | None = None

    async def of(self, envelope: EventEnvelope, segment: Segment | None, runtime: SessionRuntime) -> Rows:
        """The edges that an event adds, in the order of the rules. The runtime has taken it already."""
        if runtime.subagent or runtime.incognito:
            return ()
        try:
            payload = _payload.decode(envelope.payload)
        except msgspec.DecodeError:
            return ()
        occasion = self._occasion(envelope, runtime)
        try:
            match envelope.event_type:
                case EventType.TOOL_RESULT:
                    read = await self._read(payload, segment, envelope, runtime, occasion)
                    return (*read, *self._succeeded(payload, runtime.known, occasion)) if self.enabled else read
                case EventType.TOOL_CALL if self.enabled and runtime.known.records:
                    return await self._reused(payload, runtime, occasion)
                case EventType.USER_MESSAGE | EventType.ASSISTANT_MESSAGE if self.enabled and segment is not None:
                    return await self._said(payload, segment, runtime, occasion)
        except IndexFault:  # nobody knows what the records say: that proves nothing
            return ()
        return ()

    def _occasion(self, envelope: EventEnvelope, runtime: SessionRuntime) -> Occasion:
        owner = self.owner(runtime)
        return Occasion(
            session_ref=owner.session_ref,
            event_seq=envelope.event_seq,
            context_version=owner.context_version,
            at=envelope.observed_at,
            call_id=envelope.call_id,
        )

    # ------------------------------------------------------------------ results

    async def _read(
        self,
        payload: EventPayload,
        segment: Segment | None,
        envelope: EventEnvelope,
        runtime: SessionRuntime,
        occasion: Occasion,
    ) -> Rows:
        """N-08 → G-01: a read of memory files covered records, at the versions that were read."""
        if segment is None or segment.ok is False:
            return ()
        recent = (one for one, _ in runtime.segments)
        payload = understood(payload, segment, recent, envelope.workspace)
        read = await shown_by(self.library, payload) if reads_files(payload) else []
        return of_read([*read, *await told_by(self.library, payload, runtime.scope)], occasion)

    def _succeeded(self, payload: EventPayload, known: Known, occasion: Occasion) -> Rows:
        """The result of a call that used records is good."""
        used = known.calls.get(occasion.call_id or "", ())
        if payload.ok is not True or not used:
            return ()
        return of_event(EvidenceKind.SUCCESS, used, occasion, occasion.call_id)

    # ------------------------------------------------------------------ calls

    async def _reused(self, payload: EventPayload, runtime: SessionRuntime, occasion: Occasion) -> Rows:
        """A call that carries out what a record says, and what the session did not hold before it was shown."""
        text = cut_packets((payload.args or payload.text or "")[:LONGEST_COMMAND])
        if _is_ours(payload, text) or not acts_on_its_own(payload.native_tool or payload.tool or ""):
            return ()
        call = msgspec.structs.replace(payload, args=_commandline(text) if payload.tool == SHELL else text)
        traits, known = await self._traits(runtime), runtime.known
        done = acts([call])
        held = _Call(
            text=text,
            lowered=text.lower(),
            ran=frozenset(run(known.index.facts.commands, done)),
            touched=frozenset(opened(known.index.facts.files, done)),
            proven=frozenset(known.proven),
            prompts=_before(runtime, occasion, SegmentKind.PROMPT),
            results=_before(runtime, occasion, SegmentKind.RESULT),
        )
        used = [
            met.given
            for memory_id, met in known.records.items()
            if met.since < occasion.event_seq and reuses(_hits(held, met, traits.get(memory_id)))
        ]
        return of_event(EvidenceKind.REUSE, used, occasion, occasion.call_id)

    # ------------------------------------------------------------------ words

    async def _said(self, payload: EventPayload, segment: Segment, runtime: SessionRuntime, occasion: Occasion) -> Rows:
        """What the user says, or the agent says visibly: citations; of the user also that it worked, or that it is
        wrong."""
        own = segment.kind is SegmentKind.PROMPT and segment.source_kind is SourceKind.USER
        if segment.kind not in _SAID or not (own or segment.kind is SegmentKind.REPLY):
            return ()
        whole = payload.text[:LONGEST_SAID]
        text = segment.text
        if len(whole) > LONGEST and (runtime.known.records or "mem_" in whole):
            text = clean(whole)
        rows = await self._cited(text, whole, runtime, occasion)
        if own and runtime.known.unproven and confirms(segment.text):
            rows += tuple(
                edge
                for one in runtime.known.unproven.values()
                for edge in of_event(EvidenceKind.SUCCESS, [one.given], occasion, one.call_id)
            )
        return (*rows, *await self._corrected(segment.text, runtime, occasion)) if own else rows

    async def _cited(self, text: str, whole: str, runtime: SessionRuntime, occasion: Occasion) -> Rows:
        known = runtime.known.records
        given: dict[str, Given] = {}
        for memory_id in sorted(named(text))[:NAMED_AT_ONCE]:
            met = known.get(memory_id)
            one = met.given if met is not None else await self._given(memory_id, runtime)
            if one is not None:
                given[memory_id] = one
        if known:
            await self._traits(runtime)
            for memory_id in runtime.known.index.quotable.quoted(text):
                met = known.get(memory_id)
                if met is not None and met.since < occasion.event_seq:
                    given[memory_id] = met.given
        for block in _citations(whole):
            for one in await self._by_lines(block, runtime):
                given.setdefault(one.memory_id, one)
        return of_event(EvidenceKind.CITE, (given[memory_id] for memory_id in sorted(given)), occasion)

    async def _by_lines(self, block: str, runtime: SessionRuntime) -> list[Given]:
        """Records that the lines of Codex's own citations overlap, of those that may be seen from here."""
        found: dict[str, Given] = {}
        for path, first, last in _CITATION.findall(block)[:CITED]:
            for place in self._places(path.strip(), runtime):
                for locator in await self.library.locators(place):
                    if locator.line_start <= int(last or first) and int(first) <= locator.line_end:
                        found[locator.memory_id] = Given(
                            memory_id=locator.memory_id,
                            source_version=locator.source_version,
                            record_digest=locator.record_digest,
                        )
        visible = await self.library.digests(list(found), runtime.scope) if found else {}
        return [one for memory_id, one in sorted(found.items()) if visible.get(memory_id) == one.record_digest]

    def _places(self, path: str, runtime: SessionRuntime) -> list[str]:
        """Where a citation's file may be: the memory folder, else the workspace."""
        bases = [str(self.memories)] if self.memories is not None else []
        bases += [runtime.workspace_path] if runtime.workspace_path else []
        if ".." in PurePosixPath(path).parts:
            return []
        return [path] if path.startswith("/") else [f"{base}/{path}" for base in bases]

    async def _corrected(self, text: str, runtime: SessionRuntime, occasion: Occasion) -> Rows:
        known = runtime.known
        if not known.records:
            return ()
        said = complaint(text)
        if said is None or not (said.ids or said.pointed or corrects(text)):
            return ()
        traits, spoke = await self._traits(runtime), known.prompts[-1] if known.prompts else 0
        shown = [
            Shown(memory_id=memory_id, text=found.text, terms=found.terms, latest=met.latest >= spoke)
            for memory_id, met in known.records.items()
            if met.since < occasion.event_seq
            and (memory_id in said.ids or known.prompts_since(met) <= RECENT)
            and (found := traits.get(memory_id)) is not None
        ]
        wrong = [known.records[memory_id].given for memory_id in corrected(said, shown)]
        return of_event(EvidenceKind.CORRECTION, wrong, occasion)

    # ------------------------------------------------------------------ records

    async def _given(self, memory_id: str, runtime: SessionRuntime) -> Given | None:
        """A record as it stands in the files now, if it may be seen from here."""
        found = await self.library.get(memory_id, runtime.scope)
        if found is None:
            return None
        version, digest = found[1].source_version, found[1].record_digest
        return Given(memory_id=memory_id, source_version=version, record_digest=digest)

    async def _traits(self, runtime: SessionRuntime) -> dict[str, Traits]:
        """What the known records can be recognised by: those that may be seen from here and read as they were shown."""
        known, scope = runtime.known, runtime.scope
        place = (self.library.version, scope.workspace)
        if known.place != place:
            known.place, known.current = place, {}
        unasked = [memory_id for memory_id in known.records if memory_id not in known.current]
        if unasked:
            known.current |= dict.fromkeys(unasked, "") | await self.library.digests(unasked, scope)
        traits: dict[str, Traits] = {}
        for memory_id, met in known.records.items():
            digest = met.given.record_digest
            if known.current[memory_id] == digest:
                held = known.traits.get(memory_id)
                if held is None or held[0] != digest:
                    held = known.traits[memory_id] = (digest, await self._recognised(memory_id, runtime))
                traits[memory_id] = held[1]
        known.traits = {memory_id: one for memory_id, one in known.traits.items() if memory_id in known.records}
        digests = frozenset(known.traits[memory_id][0] for memory_id in traits)
        if known.index.digests != digests:
            every = [one.facts for one in traits.values()]
            known.index = Index(
                digests=digests,
                quotable=Quotable({memory_id: one.text for memory_id, one in traits.items()}),
                facts=Facts(
                    files=tuple(dict.fromkeys(name for one in every for name in one.files)),
                    commands=tuple(dict.fromkeys(command for one in every for command in one.commands)),
                ),
            )
        return traits

    async def _recognised(self, memory_id: str, runtime: SessionRuntime) -> Traits:
        """Raises IndexFault also when the record has gone since its digest was looked up."""
        found = await self.library.get(memory_id, runtime.scope)
        if found is None:
            raise IndexFault("A record was removed just now.")
        before = runtime.known.before.pop(memory_id, ())
        return traits_of(found[0], [f"{one.text}\n{one.path or ''}".lower() for one in before])


def traits_of(record: MemoryRecord, before: Sequence[str] = ()) -> Traits:
    """What a record can be recognised by: its commands and files that not everybody uses, its identifiers; without
    those that stood in one of the texts that its session held `before`, in lower case."""
    places = () if record.about is None else (record.about.path,)
    found, advised = facts((record.title or "", record.text), places), facts([advice(record.text)], ())
    files = tuple(one for one in found.files if telling_file(one))
    ends = {_last(one).lower() for one in found.files}
    names = (one for one in entities(advice(record.text), IDENTIFIERS) if telling_name(one) and one not in ends)
    return Traits(
        text=record.text,
        terms=terms_of(record.text),
        facts=Facts(
            files=tuple(one for one in files if not _held([_last(one)], before)),
            commands=tuple(one for one in advised.commands if telling_command(one) and not _held(one, before)),
        ),
        identifiers=tuple(one for one in names if not _held([one], before)),
        names_files=len(files),
    )


def _citations(text: str) -> list[str]:
    """What stands between the marks of a citation."""
    blocks = (block[:LONGEST_SAID].partition(_CITED_UP_TO) for block in text.split(_CITES)[1:])
    return [cited for cited, ended, _ in blocks if ended]


def _before(runtime: SessionRuntime, occasion: Occasion, kind: SegmentKind) -> tuple[tuple[int, str], ...]:
    """The segments of a kind before an event, in lower case, each with its event."""
    before = (one for one, _ in runtime.segments if one.kind is kind and one.event_seq < occasion.event_seq)
    return tuple((one.event_seq, one.text.lower()) for one in before)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Call:
    """A call, and what of all known records it ran and touched. `prompts`, `results`: what the user and tools
    said before it, by event;
    `proven`: records that were used with success already."""

    text: str
    lowered: str
    ran: frozenset[tuple[str, ...]]
    touched: frozenset[str]
    prompts: tuple[tuple[int, str], ...]
    results: tuple[tuple[int, str], ...]
    proven: frozenset[str]


def _hits(call: _Call, met: Met, traits: Traits | None) -> Hits:
    """What of a record a call holds that its session did not hold before."""
    digest = met.given.record_digest[:DIGEST]
    anchor = met.given.memory_id in call.text and met.given.memory_id in named(call.text)
    if anchor or (digest in call.text and digest in digests_in(call.text)):
        return Hits(anchor=True)
    if traits is None:
        return Hits()
    commands = [one for one in traits.facts.commands if one in call.ran]
    again = met.given.memory_id in call.proven  # work on a file goes on and on: once is enough to tell
    files = [one for one in traits.facts.files if one in call.touched and not again]
    names = [one for one in traits.identifiers if not again and _holds(call.lowered, one)]
    said = [text for seq, text in call.prompts if seq > met.since] if commands or files or names else []
    files = [one for one in files if not _held([_last(one)], said)]
    told = [text for seq, text in call.results if seq > met.since] if names else []
    names = [one for one in names if not _held([one], (*said, *told))]
    return Hits(
        commands=sum(not _held(one, said) for one in commands),
        files=len(files),
        names_files=traits.names_files,
        identifiers=tuple(names),
        restated=bool((files or names) and Quotable({"": traits.text}).quoted(call.text)),
    )


def _held(words: Iterable[str], texts: Sequence[str]) -> bool:
    """Whether one of these texts holds all of the words."""
    wanted = [word.lower() for word in words]
    return any(all(word in text for word in wanted) for text in texts)


def _holds(text: str, identifier: str) -> bool:
    """Whether an identifier stands in a text by itself."""
    if identifier not in text:
        return False
    return re.search(rf"(?<![0-9a-z_]){re.escape(identifier)}(?![0-9a-z_])", text) is not None


def _is_ours(payload: EventPayload, text: str) -> bool:
    """Whether a call is one of our own tool, or on our own folders."""
    said = f"{payload.tool or ''} {payload.native_tool or ''} {payload.path or ''} {text}".lower()
    return name() in said or name(sep="_") in said


def _commandline(text: str) -> str:
    """A shell call without the documents in it and without quotations that hold what divides commands."""
    return _QUOTED.sub(lambda found: " … " if _DIVIDES.search(found[0]) else found[0], _DOCUMENT.sub(" ", text))


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
