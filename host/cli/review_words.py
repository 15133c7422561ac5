"""How an item of the review queue is told in words: why it is there, what it says, who said what, and what was done."""

from governance.contracts import Stage
from governance.review import EDITED, Act, Citation, ItemFlag, ItemKind, Principal, QueueItem, State
from host.cli.output import say
from host.cli.review_answers import Decided, Reviewed
from host.cli.tables import when
from host.cli.wording import tell_screening
from host.namespace import SCRIPT

BECOMES = {"semantic": "a fact", "procedural": "a procedure", "validated": "a validated procedure"}
WHY = {
    ItemFlag.QUARANTINED: "kept back by the screen",
    ItemFlag.CORRECTED: "said to be wrong",
    ItemFlag.UNUSED: "unused for long",
    ItemFlag.HIGH_RISK: "can do harm",
    ItemFlag.DERIVED: "from what a tool or a page said",
    ItemFlag.CONFLICT: "says otherwise than another",
    ItemFlag.UNWANTED: "to be forgotten, as an agent proposes",
    ItemFlag.TRUNCATED_EVIDENCE: "from a message that was not seen whole",
    ItemFlag.RECHECK: "the user said otherwise since",
}
LOOK_OUT = {
    ItemFlag.QUARANTINED: "It reads like an order to the agent, or hides text. No agent sees it before you keep it.",
    ItemFlag.CORRECTED: "Somebody said that this is wrong. It is handed to nobody until you decide.",
    ItemFlag.UNUSED: "Nobody used this procedure for long, so it rests. Kept, it is in use again.",
    ItemFlag.HIGH_RISK: "It names something that is hard to undo.",
    ItemFlag.DERIVED: "It was made of what a tool or a page said, not of what you said.",
    ItemFlag.CONFLICT: "Another memory says otherwise. Keep the one that holds, and put the other away.",
    ItemFlag.UNWANTED: "An agent would have this forgotten. Archive puts it away, keep lets it stand.",
    ItemFlag.TRUNCATED_EVIDENCE: "A message that it quotes was too long, and was not seen whole.",
    ItemFlag.RECHECK: "You said otherwise after this was kept.",
}
BY = {Principal.HUMAN: "a person", Principal.AGENT: "an agent"}
WHO = {"user": "you", "assistant": "the agent", "tool": "a tool"}
DONE = {State.KEPT: "Kept.", State.ARCHIVED: "Archived."}
ACTS = {Act.KEEP: "kept", Act.EDIT_AND_KEEP: "kept in other words", Act.ARCHIVE: "archived", Act.COMMIT: "committed"}
TRUST = {
    "user": "said by you",
    "reviewed": "reviewed",
    "extracted": "noted automatically, not reviewed",
    "imported": "imported, not reviewed",
}
FROM = {
    "notes": "from a conversation",
    "checkpoint": "noted at the end of a stretch of work",
    "batch": "from sessions that were read in",
    "documents": "made of kept memories",
    "agent": "proposed by an agent",
    "team": "proposed for the team",
    "remember": "kept by an agent",
    "evidence": "proposed by what its use shows",
}
KINDS = {
    ItemKind.NOTE: "note",
    ItemKind.MEMORY: "memory",
    ItemKind.ENTRY: "entry for the team",
    ItemKind.SCENE: "scene",
    ItemKind.DOCTRINE: "doctrine",
    ItemKind.SKILL: "skill",
    ItemKind.PROMOTION: "promotion",
}
MINUTE = len("2026-01-01 00:00")


def why(item: QueueItem) -> str:
    """Why an item is in the queue, in words."""
    said = [WHY[flag] for flag in item.flags]
    if item.kind is ItemKind.PROMOTION:
        said.insert(0, f"could become {BECOMES.get(item.target, item.target)}")
    if item.target == EDITED:
        said.insert(0, "to be put into other words, as an agent proposes")
    if item.updates is not None:
        said.insert(0, "would take the place of another")
    return ", ".join(said) or FROM.get(item.pipeline, "proposed")


def stale(item: QueueItem) -> str:
    """That it cannot be kept any more, and why."""
    what = "What it was made of" if item.kind in (ItemKind.SCENE, ItemKind.DOCTRINE, ItemKind.SKILL) else "The memory"
    return f"{what} was changed since this was proposed, so this cannot be kept any more."


def words(found: Reviewed) -> str:
    """What the item says: its own words, or the memory's."""
    item, record = found.item, found.record
    if item.text and (record is None or item.target == EDITED):
        return titled(item.title, item.text)
    if record is not None:
        return titled(record.title, record.text)
    return "the memory is gone" if item.record_id else ""


def titled(title: str | None, text: str) -> str:
    """A text after its title, if it has one that the text does not say anyway."""
    return f"{title}: {text}" if title and not text.startswith(title) else text


def minute(at: int) -> str:
    """A time as people read it, to the minute; nothing where nobody knows it."""
    return f"{when(at)[:MINUTE]} UTC" if at else ""


def said(quote: Citation) -> str:
    """Who said it, when and where: `you, 2026-11-03 14:02 UTC, s-one#17`."""
    place = f"{quote.session}#{quote.seq}" if quote.session and quote.seq else quote.session
    return ", ".join(part for part in (WHO.get(quote.role, quote.role or "somebody"), minute(quote.at), place) if part)


def tell(done: Decided) -> None:
    """Say what a decision did."""
    item = done.item
    trust = f" Trust: {done.trust}." if done.trust and item.state is State.KEPT else ""
    say(DONE.get(item.state, f"It is {item.state} now.") + trust)
    tell_screening(done.redacted, quarantined=False)
    if done.memory_id is not None and done.memory_id not in (item.record_id, item.item_id):
        say(f"It is a memory of its own now: {done.memory_id}.")
    if done.stage is Stage.VALIDATED:
        say(f"It can do harm, so it waits for your approval too: {SCRIPT} approve {done.memory_id}")
    elif done.stage is not None:
        say(f"The procedure is {done.stage} now.")
