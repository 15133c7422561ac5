"""When the user of a Claude Code session goes back, told as the file is read (pure).

`live_branch` looks at a whole file; this sees each record once, in its order. A prompt that hangs on an earlier record
than the last leaves behind what came after that one. A reply that is made anew leaves only the earlier reply.
"""

from collections.abc import Callable

from host.transcripts import claude_words as words
from host.transcripts.claude_branches import Node, node_of
from host.transcripts.records import Record, blocks_of, record_of, text_of
from recall.contracts import SourceKind

KEPT = 20_000  # records of one session that are known at a time


class Rewinds:
    """The live path through one file. `name`: the id of the event that a prompt's record is told by; empty: of none."""

    def __init__(self, name: Callable[[Record], str]) -> None:
        self._name = name
        self._leaf = ""  # the last message, as the file names it behind that
        self._clear()

    def feed(self, record: Record) -> list[str]:
        """The ids of the prompts that the user leaves with this record; mostly none."""
        uuid = text_of(record, "uuid")
        if text_of(record, "type") == "last-prompt":
            self._leaf = text_of(record, "leafUuid")
        if not uuid or uuid in self._nodes:
            return []
        if len(self._nodes) >= KEPT:
            self._clear()
        node = node_of(record, uuid, len(self._nodes))
        self._nodes[uuid] = node
        if node.prompt or is_queued(record):
            self._names[uuid] = self._name(record)
        if not node.role or node.aside:
            return []
        self._leaf = ""
        return self._on(uuid)

    def ended(self) -> list[str]:
        """The prompts that were left when nothing more was said: the file names the message that it goes on from."""
        if self._leaf not in self._places:
            return []
        left = self._left(self._path[self._places[self._leaf] + 1 :], [])
        if left:
            self._cut(self._places[self._leaf])
        return left

    def _clear(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._names: dict[str, str] = {}  # prompts
        self._path: list[str] = []  # from the first record to the last message
        self._places: dict[str, int] = {}

    def _on(self, uuid: str) -> list[str]:
        """The conversation goes on with this message: wherever it hangs, there it goes on."""
        between: list[str] = []
        here = uuid
        while here in self._nodes and here not in self._places and len(between) <= KEPT:
            between.append(here)
            here = self._nodes[here].parent
        if here not in self._places:  # a root of its own: a new conversation in the same file
            self._path, self._places = [], {}
            self._extend(between[::-1])
            return []
        left = self._path[self._places[here] + 1 :]
        gone = self._left(left, between[::-1])
        self._cut(self._places[here])
        self._extend(between[::-1])
        return gone

    def _left(self, left: list[str], new: list[str]) -> list[str]:
        """The prompts of a branch, if it was left and does not only hang beside the other."""
        first = next((self._nodes[one] for one in left if self._nodes[one].role or one in self._names), None)
        if first is None:
            return []
        other = next((self._nodes[one] for one in new if self._nodes[one].role), None)
        again = other is not None and first.role == other.role == "assistant" and first.message_id != other.message_id
        queued = not first.role  # a prompt that was typed ahead
        if not (first.prompt or queued or again):
            return []
        return [name for one in left if (name := self._names.get(one, ""))]

    def _extend(self, more: list[str]) -> None:
        for one in more:
            self._places[one] = len(self._path)
            self._path.append(one)

    def _cut(self, place: int) -> None:
        for one in self._path[place + 1 :]:
            del self._places[one]
        del self._path[place + 1 :]


def is_queued(record: Record) -> bool:
    """Whether a record is a prompt that was typed while the agent worked."""
    attachment = record_of(record, "attachment")
    typed = text_of(attachment, "type") == "queued_command" and text_of(attachment, "commandMode") == "prompt"
    return typed and not words.machine_record(attachment)


def prompt_text(record: Record) -> str:
    """What the user typed, as the events of a prompt hold it; empty: nothing."""
    blocks = blocks_of(record_of(record, "message").get("content"))
    every = [words.spoken(text) for block in blocks if (text := text_of(block, "text")).strip()]
    return "\n".join(part.text for part in every if part.source is SourceKind.USER)
