"""The injection broker (C-06): what safety has cleared becomes a packet that fits, or a silence. Pure.

Invariant kept here: 7 (memory is reference, not instruction, and cannot close its own frame). Whole lowest items are
dropped to fit; a text is cut by its level and item budget only, at a sentence if possible; provenance is never cut. The
same input gives the same packet, id and digests included.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import msgspec

from governance.contracts import Action, Verdict
from governance.trust import ceiling
from host.checklist import FEWEST, checklist, steps
from host.contracts import Capability, Context, MemoryPacket, PacketItem, Reason, Silence
from host.namespace import policy as policy_id
from host.provenance import when, why
from host.render import block, clip, render
from host.sanitise import LONGEST, body, one_line
from recall.activation import ActivationPolicy, plain, validated
from recall.canonical import digest, short_id, text_digest
from recall.contracts import (
    LEVELS,
    ActivationLevel,
    ActivationRequest,
    Candidate,
    ContextCursor,
    Frozen,
    Millis,
    Scored,
)
from recall.tokens import estimated_tokens

Count = Annotated[int, msgspec.Meta(ge=1)]
LAST_PLACE = 99  # the widest number that an item can have


class BrokerPolicy(Frozen, frozen=True, kw_only=True):
    """Budgets of a packet: UTF-8 bytes, tokens as estimated, milliseconds, steps.

    `item_bytes` bounds a whole item with its provenance, up to an excerpt; a checklist is bounded by its steps and
    characters, a whole record by the packet. `packet_tokens` None: bytes alone decide. What level a record gets by its
    evidence stands in `activation`.
    """

    id: str = policy_id("broker", 5)
    items: Count = 8
    item_bytes: Count = 600
    packet_bytes: Count = 4_096
    packet_tokens: int | None = None
    title_bytes: Count = 90
    why_bytes: Count = 150
    hint_bytes: Count = 240
    excerpt_bytes: Count = 480
    checklist_items: Count = 8
    checklist_chars: Count = 1_200
    full_bytes: Count = 3_000
    activation: ActivationPolicy = ActivationPolicy()
    ttl: Millis = 600_000
    carry_steps: int = 1


class Draft(Frozen, frozen=True, kw_only=True):
    """The occasion of a packet. `tag`: 8 to 64 lowercase hex digits, a keyed hash that no memory can know.

    `level` is M-07's advice for one record; it counts for that record at this context version only, never above what
    the record's trust allows. `again`: the records that this context window holds already and that are shown once
    more. `brief`: this context window was told already how to read a packet. `hesitation`: of the agent now, 0 … 1.
    `rested`: since the packet to be carried was made, the session only waited for its user's next prompt. `limits`: the
    level that the use of a record has earned it, by memory id.
    """

    cursor: ContextCursor
    agent_id: str
    window: int
    step: int | None
    trigger_reason: str
    retrieval_version: str
    tag: str
    level: ActivationRequest | None = None
    again: frozenset[str] = frozenset()
    brief: bool = False
    hesitation: float = 0.0
    rested: bool = False
    limits: Mapping[str, ActivationLevel] = {}


# What each rung of the ladder shows of a record's text.
RUNGS: dict[ActivationLevel, Callable[[str, BrokerPolicy], str]] = {
    ActivationLevel.INDEX: lambda text, policy: "",
    ActivationLevel.HINT: lambda text, policy: clip(one_line(text), policy.hint_bytes),
    ActivationLevel.EXCERPT: lambda text, policy: clip(body(text), policy.excerpt_bytes),
    ActivationLevel.CHECKLIST: lambda text, policy: checklist(text, policy.checklist_items, policy.checklist_chars),
    ActivationLevel.RESOURCE: lambda text, policy: clip(body(text), policy.excerpt_bytes),
    ActivationLevel.FULL: lambda text, policy: body(text),
}
# Which records a level applies to, where not to all. One that does not apply falls to the next lower.
APPLIES: dict[ActivationLevel, Callable[[Candidate, BrokerPolicy], bool]] = {
    ActivationLevel.CHECKLIST: lambda one, policy: validated(one) and len(steps(one.payload, FEWEST)) >= FEWEST,
    ActivationLevel.RESOURCE: lambda one, policy: (
        one.resource_ref is not None
        and (one.resource_ref != one.anchor_id or len(body(one.payload).encode("utf-8")) > policy.excerpt_bytes)
    ),
    # What lies beyond what is looked at is not shown, however little is left of what is: that is not the whole.
    ActivationLevel.FULL: lambda one, policy: (
        len(one.payload) <= LONGEST and len(body(one.payload).encode("utf-8")) <= policy.full_bytes
    ),
}
SHORT = (ActivationLevel.INDEX, ActivationLevel.HINT, ActivationLevel.EXCERPT)  # those made from any text


def build(
    verdict: Verdict, draft: Draft, capability: Capability, policy: BrokerPolicy, now: Millis
) -> MemoryPacket | Silence:
    """A packet of what safety kept, best first; or a Silence: `unsafe`, `awaiting-approval`, `no-candidates`,
    `packet-oversize`."""
    if verdict.action is Action.SUPPRESS:
        return Silence(reason=Reason.UNSAFE, detail=verdict.reason)
    if verdict.action is Action.ASK and not verdict.kept:
        return Silence(reason=Reason.AWAITING_APPROVAL, detail=verdict.reason)
    degraded = verdict.action is Action.FALLBACK
    items = [_item(scored, _level(scored, draft, policy, degraded=degraded), draft, policy) for scored in verdict.kept]
    if not items:
        return Silence(reason=Reason.NO_CANDIDATES)
    packet = _packet([item for item in items if item is not None], draft, policy, _budget(capability, policy))
    if packet is None:
        return Silence(reason=Reason.PACKET_OVERSIZE)
    return msgspec.structs.replace(packet, created_at=now, expiry=now + policy.ttl)


def carry(
    packet: MemoryPacket, items: Sequence[PacketItem], draft: Draft, policy: BrokerPolicy, now: Millis
) -> MemoryPacket | Silence:
    """An unclaimed packet built again at the cursor of `draft`, from those of its items that still hold.

    Items of an overtaken packet may follow the packet's own: the last ones are dropped to fit. Trigger, expiry and
    step stay those of the first build, so nothing is carried beyond its time; the clock begins anew only where the
    session has rested meanwhile. A Silence otherwise: `context-reset`
    (another context window), `expired`, `stale-index` (nothing left), `packet-oversize`.
    """
    if draft.window != packet.window or draft.agent_id != packet.agent_id:
        return Silence(reason=Reason.CONTEXT_RESET)
    steps = 0 if packet.step is None or draft.step is None else draft.step - packet.step
    if (now >= packet.expiry and not draft.rested) or steps > policy.carry_steps:
        return Silence(reason=Reason.EXPIRED)
    if not items:
        return Silence(reason=Reason.STALE_INDEX)
    carried = _packet(items, draft, policy, packet.budget_bytes)
    if carried is None:
        return Silence(reason=Reason.PACKET_OVERSIZE)
    return msgspec.structs.replace(
        carried,
        trigger_reason=packet.trigger_reason,
        created_at=now,
        expiry=now + policy.ttl if draft.rested else packet.expiry,
        step=packet.step,
        hesitation=packet.hesitation,
        carried=packet.carried + 1,
    )


def alone(
    context: Context, draft: Draft, capability: Capability, policy: BrokerPolicy, now: Millis
) -> MemoryPacket | Silence:
    """A packet without items, for what there is to say of the runtime context; or a Silence: `already-visible` (the
    window holds all of it), `packet-oversize`."""
    if not context.text:
        return Silence(reason=Reason.ALREADY_VISIBLE)
    bare = _made((), draft, _budget(capability, policy))
    packet = with_context(bare, context, policy)
    if packet is bare:
        return Silence(reason=Reason.PACKET_OVERSIZE)
    return msgspec.structs.replace(packet, created_at=now, expiry=now + policy.ttl)


def with_context(packet: MemoryPacket, context: Context | None, policy: BrokerPolicy) -> MemoryPacket:
    """The packet with this to say of the runtime context in place of what it said, or as it is if that has no room."""
    if context == packet.context:
        return packet
    both = _sealed(msgspec.structs.replace(packet, context=context))
    return both if _fits(both.rendered, policy, packet.budget_bytes) else packet


def rerender(packet: MemoryPacket) -> str:
    """The packet's text from its items and tag: what a claim compares with `rendered`."""
    said = "" if packet.context is None else packet.context.text
    return render(packet.items, packet.tag, brief=packet.brief, context=said)


def _budget(capability: Capability, policy: BrokerPolicy) -> int:
    """Bytes of a packet for this host: a character takes a byte at least."""
    return min(policy.packet_bytes, capability.max_chars, capability.max_bytes or policy.packet_bytes)


def _packet(items: Sequence[PacketItem], draft: Draft, policy: BrokerPolicy, budget: int) -> MemoryPacket | None:
    """The packet of as many items as fit; times are the caller's. None: not even one fits."""
    chosen = _fitting(items, _free_tag(draft.tag, items), policy, budget)
    return _made(chosen, draft, budget) if chosen else None


def _made(chosen: Sequence[PacketItem], draft: Draft, budget: int) -> MemoryPacket:
    """The packet of these items, sealed."""
    packet = MemoryPacket(
        packet_id="",
        context_cursor=draft.cursor,
        retrieval_version=draft.retrieval_version,
        trigger_reason=draft.trigger_reason,
        activation_level=max((item.level for item in chosen), key=LEVELS.index, default=ActivationLevel.INDEX),
        items=tuple(chosen),
        exact_digest="",
        semantic_digest="",
        budget_bytes=budget,
        expiry=0,
        rendered="",
        tag=draft.tag,
        agent_id=draft.agent_id,
        window=draft.window,
        step=draft.step,
        brief=draft.brief,
        hesitation=draft.hesitation,
        resource_refs=tuple(
            item.resource_ref for item in chosen if item.level is ActivationLevel.RESOURCE and item.resource_ref
        ),
    )
    return _sealed(packet)


def _sealed(packet: MemoryPacket) -> MemoryPacket:
    """The packet rendered behind a tag that stands in none of its texts, with its digests and its id."""
    context = packet.context
    tag = _free_tag(packet.tag, packet.items, "" if context is None else context.text)
    packet = msgspec.structs.replace(packet, tag=tag)
    rendered = rerender(packet)
    says = {
        "level": packet.activation_level,
        "items": sorted([item.memory_id, item.record_digest] for item in packet.items),
    }
    semantic = digest(says if context is None else says | {"context": context.state})
    identity = {
        "sessionId": packet.context_cursor.session_id,
        "agentId": packet.agent_id,
        "contextVersion": packet.context_cursor.context_version,
        "tag": tag,
        "semanticDigest": semantic,
    }
    return msgspec.structs.replace(
        packet,
        packet_id=short_id("pkt_", identity),
        exact_digest=text_digest(rendered),
        semantic_digest=semantic,
        rendered=rendered,
    )


def _fits(rendered: str, policy: BrokerPolicy, budget: int) -> bool:
    tokens = policy.packet_tokens
    return len(rendered.encode("utf-8")) <= budget and (tokens is None or estimated_tokens(rendered) <= tokens)


def _fitting(items: Sequence[PacketItem], tag: str, policy: BrokerPolicy, budget: int) -> list[PacketItem]:
    """Best first: the lowest items go as wholes; the last one left is shown shorter before nothing is shown."""
    chosen = list(items[: policy.items])
    while chosen:
        if _fits(render(chosen, tag), policy, budget):
            return chosen
        lower = _lower(chosen[0], policy) if len(chosen) == 1 else None
        chosen = [lower] if lower is not None else chosen[:-1]
    return []


def _lower(item: PacketItem, policy: BrokerPolicy) -> PacketItem | None:
    """The item one rung down, or None at the lowest."""
    below = [level for level in SHORT if LEVELS.index(level) < LEVELS.index(item.level)]
    return _cut_to(_shaped(item, below[-1], item.text, policy), policy) if below else None


def _item(scored: Scored, level: ActivationLevel, draft: Draft, policy: BrokerPolicy) -> PacketItem | None:
    """One memory at this level, within its budget; None when not even its provenance fits."""
    candidate = scored.candidate
    item = PacketItem(
        memory_id=candidate.memory_id,
        record_digest=candidate.record_digest,
        source_version=candidate.source_version,
        scope=candidate.scope.kind.value,
        level=level,
        text="",
        why=clip(one_line(why(scored, draft.trigger_reason)), policy.why_bytes),
        when=when(candidate),
        kind=candidate.kind.value,
        title=clip(one_line(candidate.title), policy.title_bytes) if candidate.title else None,
        raised=candidate.memory_id in draft.again,
        resource_ref=candidate.resource_ref,
    )
    shaped = _cut_to(_shaped(item, level, candidate.payload, policy), policy)
    return shaped if _bytes(shaped) <= _room(level, policy) and (shaped.text or shaped.title) else None


def lift(item: PacketItem, candidate: Candidate, level: ActivationLevel, policy: BrokerPolicy) -> PacketItem | None:
    """The item at a higher level, marked as raised; None when the record has no more to show at it."""
    whole = msgspec.structs.replace(item, resource_ref=candidate.resource_ref, raised=True, cut=False)
    fit = applying(level, candidate, policy)
    more = _cut_to(_shaped(whole, fit, candidate.payload, policy), policy)
    return more if LEVELS.index(fit) > LEVELS.index(item.level) and _bytes(more) <= _room(fit, policy) else None


def applying(level: ActivationLevel, candidate: Candidate, policy: BrokerPolicy) -> ActivationLevel:
    """The highest level up to this one that applies to the record."""
    below = LEVELS[: LEVELS.index(level) + 1]
    return [one for one in below if one not in APPLIES or APPLIES[one](candidate, policy)][-1]


def _cut_to(item: PacketItem, policy: BrokerPolicy) -> PacketItem:
    """The item with its text cut to the room of its level."""
    over = _bytes(item) - _room(item.level, policy)
    while over > 0 and item.text:
        text = clip(item.text, len(item.text.encode("utf-8")) - over)
        item = msgspec.structs.replace(item, text=text, cut=True)
        over = _bytes(item) - _room(item.level, policy)
    return item


def _room(level: ActivationLevel, policy: BrokerPolicy) -> int:
    """How many bytes an item of this level may have."""
    if level is ActivationLevel.FULL:
        return policy.packet_bytes
    return policy.packet_bytes if level is ActivationLevel.CHECKLIST else policy.item_bytes


def _shaped(item: PacketItem, level: ActivationLevel, text: str, policy: BrokerPolicy) -> PacketItem:
    shown = RUNGS[level](text, policy)
    title = item.title or (None if shown else clip(one_line(text), policy.title_bytes) or None)
    cut = len(text) > LONGEST or (
        one_line(shown) != one_line(body(text)) if level in SHORT else level is not ActivationLevel.FULL
    )
    return msgspec.structs.replace(item, level=level, text=shown, title=title, cut=item.cut or cut)


def _bytes(item: PacketItem) -> int:
    return len(block(item, LAST_PLACE).encode("utf-8"))


def _level(scored: Scored, draft: Draft, policy: BrokerPolicy, *, degraded: bool) -> ActivationLevel:
    """As much as evidence and trust allow, unless M-07 advises for this record; never a level that does not apply."""
    candidate = scored.candidate
    wanted = plain(scored, policy.activation, degraded=degraded)
    advice = draft.level
    if (
        advice is not None
        and advice.procedure_id == candidate.memory_id
        and advice.context_version == draft.cursor.context_version
    ):
        wanted = advice.level
    limit = draft.limits.get(candidate.memory_id) or ceiling(candidate)
    return applying(min(wanted, limit, key=LEVELS.index), candidate, policy)


def _free_tag(tag: str, items: Sequence[PacketItem], *others: str) -> str:
    """The tag, or the next one derived from it that stands in no item and no other text."""
    texts = [*others, *(text for item in items for text in (item.text, item.title or "", item.why, item.memory_id))]
    while any(tag in text for text in texts):
        tag = text_digest(tag)[: len(tag)]
    return tag
