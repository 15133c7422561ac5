"""Which records of a Claude Code file lie on branches that the user left by going back (pure).

Records form a tree by parentUuid. Going back and typing another prompt, or having a reply made anew, leaves a branch
behind. Other forks are none: progress records and attachments have leaves of their own, parallel tool results hang
beside the chain, subagents and resumed histories start new roots.
"""

from collections.abc import Iterable

from host.transcripts import claude_words as words
from host.transcripts.records import Record, blocks_of, parse, record_of, text_of
from recall.contracts import Frozen, SourceKind


class Branch(Frozen, frozen=True, kw_only=True):
    """`kept`: user and assistant records of the live branch. `abandoned`: event ids of those of left branches."""

    kept: int
    abandoned: frozenset[str]


class Node(Frozen, frozen=True, kw_only=True):
    parent: str
    order: int
    role: str  # "user", "assistant", or "" for a record between messages
    prompt: bool = False  # typed by the user
    message_id: str = ""
    aside: bool = False  # of a subagent
    events: tuple[str, ...] = ()


def live_branch(lines: Iterable[bytes]) -> Branch:
    """The live branch of a session file, and what lies off it. The whole tree is in memory, without its texts."""
    nodes: dict[str, Node] = {}
    leaf = ""
    for order, line in enumerate(lines):
        record = parse(line) or {}
        uuid = text_of(record, "uuid")
        if text_of(record, "type") == "last-prompt":
            leaf = text_of(record, "leafUuid") or leaf
        elif uuid and uuid not in nodes:
            nodes[uuid] = node_of(record, uuid, order)
            if nodes[uuid].role and not nodes[uuid].aside:
                leaf = uuid
    below = _next_messages(nodes, leaf)
    kept, abandoned = 0, set[str]()
    for uuid, node in nodes.items():
        if node.role and not node.aside and _left(nodes, uuid, below):
            abandoned.update(node.events)
        else:
            kept += bool(node.role)
    return Branch(kept=kept, abandoned=frozenset(abandoned))


def _next_messages(nodes: dict[str, Node], leaf: str) -> dict[str, Node | None]:
    """Every record of the live path, and the message that follows it there."""
    below: dict[str, Node | None] = {}
    following: Node | None = None
    while leaf in nodes and leaf not in below:
        below[leaf] = following
        following = nodes[leaf] if nodes[leaf].role else following
        leaf = nodes[leaf].parent
    return below


def _left(nodes: dict[str, Node], uuid: str, below: dict[str, Node | None]) -> bool:
    """Whether the way from the live path to this record begins with another prompt, or another reply, than was kept."""
    first: Node | None = None
    walked: set[str] = set()
    while uuid not in below:
        if uuid not in nodes or uuid in walked:
            return False  # a root of its own
        walked.add(uuid)
        first = nodes[uuid] if nodes[uuid].role else first
        uuid = nodes[uuid].parent
    kept = below[uuid]
    if first is None or first.prompt:
        return first is not None
    replied = kept is not None and first.role == kept.role == "assistant" and first.order < kept.order
    return replied and kept is not None and first.message_id != kept.message_id


def node_of(record: Record, uuid: str, order: int) -> Node:
    """A record's place in the tree."""
    role = text_of(record, "type")
    parent = text_of(record, "parentUuid") or text_of(record, "logicalParentUuid")
    if role not in ("user", "assistant"):
        return Node(parent=parent, order=order, role="")
    message = record_of(record, "message")
    blocks = blocks_of(message.get("content"))
    results = [text_of(block, "tool_use_id") for block in blocks if text_of(block, "type") == "tool_result"]
    calls = [text_of(block, "id") for block in blocks if text_of(block, "type") == "tool_use"]
    said = "\n".join(words.texts_of(list(blocks)))
    typed = not results and words.spoken(said).source is SourceKind.USER and not words.machine_record(record)
    return Node(
        parent=parent,
        order=order,
        role=role,
        prompt=role == "user" and typed and words.summary_of(record, blocks) is None,
        message_id=text_of(message, "id"),
        aside=record.get("isSidechain") is True,
        events=(f"msg:{uuid}", *(f"result:{call}" for call in results), *(f"call:{call}" for call in calls)),
    )
