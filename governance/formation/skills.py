"""Skills out of a conversation (formation.md 3).

The conversation keeps its first 8 000 and its last 32 000 characters; that something was left out is said, and there is
no second run for it. What tools were given and gave back is never shown.
"""

from collections.abc import Mapping, Sequence

from governance.formation.contracts import (
    Diagnostic,
    DocumentsResult,
    ExtractSkillsRequest,
    Layer,
    Message,
    ModelDriver,
    Role,
    Skills,
)
from governance.formation.docresults import Begun, Setting, distinct, readable, worked
from governance.formation.errors import ParameterFault
from governance.formation.prompts import shown
from governance.formation.skill_desk import SkillDesk
from governance.screen import redact
from recall.canonical import digest, text_digest
from recall.contracts import Frozen

HEAD, TAIL = 8_000, 32_000  # characters
CUT = "conversation-truncated"
Row = Mapping[str, object]


class Conversation(Frozen, frozen=True, kw_only=True):
    """What is shown of a conversation. `omitted_ids`: messages that are not shown whole."""

    rows: tuple[dict[str, object], ...]
    messages: tuple[Message, ...]
    omitted_chars: int = 0
    omitted_ids: tuple[str, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if not self.omitted_chars:
            return ()
        detail = f"{self.omitted_chars} characters of the conversation were left out."
        return (Diagnostic(code=CUT, detail=detail, ids=self.omitted_ids, count=self.omitted_chars),)


async def extract_skills(
    driver: ModelDriver, request: ExtractSkillsRequest, skills: Skills, setting: Setting
) -> DocumentsResult:
    """Skills out of a conversation, beside those that there are. Nothing was said, no call. Raises ParameterFault."""
    begun, conversation = begin_skills(request, setting, driver.id)
    if not conversation.rows:
        return begun.nothing(setting.now())
    desk = SkillDesk(request.scope_key, conversation.messages, skills, begun.at)
    ended = await worked(driver, begun, shown(conversation.rows), desk, setting)
    return begun.result(ended, desk, setting.now(), *desk.refused)


def begin_skills(request: ExtractSkillsRequest, setting: Setting, model_id: str) -> tuple[Begun, Conversation]:
    """Raises ParameterFault: `duplicate-id`, `empty-evidence`, `bad-content`."""
    distinct([message.id for message in request.messages], "message")
    for message in request.messages:
        if not message.evidence:
            raise ParameterFault("empty-evidence", f"{message.id} names no evidence.", "Say where each message stands.")
        readable(message.content, "message")
    conversation = kept(request.messages)
    made_of = [[one.id, one.role, text_digest(one.content)] for one in request.messages]
    begun = Begun(
        prompt=setting.prompt,
        system=setting.prompt.text,
        input_hash=digest([Layer.SKILL, request.scope_key, made_of, request.mode]),
        model_id=model_id,
        at=setting.now(),
        diagnostics=conversation.diagnostics,
    )
    return begun, conversation


def kept(messages: Sequence[Message]) -> Conversation:
    """What user and agent said, without secrets: its beginning and its end, where it is too long."""
    said = [(one, redact(one.content)[0]) for one in messages if one.role is not Role.TOOL and one.content.strip()]
    total = sum(len(text) for _, text in said)
    gap = (HEAD, total - TAIL) if total > HEAD + TAIL else (total, total)
    rows: list[dict[str, object]] = []
    shown_ones: list[Message] = []
    omitted: list[str] = []
    start = 0
    for message, text in said:
        left, right = max(0, min(len(text), gap[0] - start)), max(0, min(len(text), gap[1] - start))
        if left < right:
            omitted.append(message.id)
        if pieces := _pieces(text, left, right):
            rows.append({"message": message.id, "role": message.role, "content": pieces})
            shown_ones.append(message)
        start += len(text)
    return Conversation(
        rows=tuple(rows), messages=tuple(shown_ones), omitted_chars=gap[1] - gap[0], omitted_ids=tuple(omitted)
    )


def _pieces(text: str, left: int, right: int) -> str:
    """A text without what lies between two places; nothing, when that is all of it."""
    if left >= right:
        return text
    if not left and right == len(text):
        return ""
    return f"{text[:left]}\n[… {right - left} characters omitted …]\n{text[right:]}".strip("\n")
