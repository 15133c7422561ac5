"""What a person wrote of a text in the user's role, whichever agent product told it (pure).

An adapter says already whose words a text is. Formation asks again: a client that is not ours may send a summary or a
notification as the user's, and one such text in a memory would be said to every session to come.
"""

import re

from host.frame import cut_packets
from host.observer import clean
from host.transcripts import claude_words, codex_words, gemini_words
from recall.contracts import SourceKind

LONGEST_ASKING = 120  # characters
# How agent products begin the summary that takes a conversation's place.
_SUMMARY = re.compile(
    r"This session is being continued from a previous conversation"
    r"|Another language model started to solve this problem"
    r"|<(?:state_snapshot|compact(?:ion)?[_-]summary|conversation[_-]summary|summary)>",
    re.IGNORECASE,
)
# Blocks that no closing tag ends: what the log cut in their middle. All that follows is the machine's.
_OPEN_BLOCK = re.compile(
    r"<(?:system-reminder|task-notification|local-command-(?:stdout|stderr|caveat)|hook[_-]context"
    r"|environment_context|user-prompt-submit-hook)>(?![^<]*</)"
)
# Asking the agent to form memories, and nothing else. Were it formed itself, there would always be one that waits.
_FORMING = re.compile(
    r"(?:(?:please|can you|could you|now) )*(?:run|do|take) (?:(?:the|all|my|those|these|waiting|some|\d+) )*"
    r"(?:checkpoints?|notes)(?: (?:that|which) (?:waits?|(?:is|are) waiting))?"
    r"(?: of (?:this|the) (?:session|conversation))?"
    r"(?:,? (?:please|now))*[.!?]*"
    r"|请?(?:运行|执行|处理)(?:一下)?(?:所有)?(?:等待(?:中)?的)?(?:检查点|checkpoints?)[。！]?"
    r"|请?(?:给|为)?(?:这个|这次|本次)?(?:会话|对话)?(?:做|记)(?:一下)?笔记[。！]?",
    re.IGNORECASE,
)


def authored(text: str) -> str:
    """The words of the text's author, clean; empty: a machine wrote all of it, or it only asks for memories to be
    formed."""
    own = _own(text)
    return "" if _only_asks(own) else own


def asks_for_forming(text: str) -> bool:
    """Whether a person wrote this and only asks for memories to be formed."""
    return _only_asks(_own(text))


def _only_asks(own: str) -> bool:
    return len(own) <= LONGEST_ASKING and _FORMING.fullmatch(" ".join(own.split())) is not None


def _own(text: str) -> str:
    """What is left of a text without what machines wrote."""
    text = cut_packets(text).strip()
    if not text or _SUMMARY.match(text):
        return ""
    if codex_words.whose({}, text) is not SourceKind.USER:
        return ""
    beside = gemini_words.spoken(codex_words.asked(text) or text)
    spoken = claude_words.spoken(beside.text)
    if SourceKind.USER is not beside.source or SourceKind.USER is not spoken.source:
        return ""
    return clean(_OPEN_BLOCK.split(spoken.text, maxsplit=1)[0])
