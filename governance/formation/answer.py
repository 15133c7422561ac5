"""The one reader of models' answers (formation.md 4.4). Pure.

Looked at in this order: the arguments of the tool, the whole text as JSON, a fenced block, and the first value of the
wanted kind that stands anywhere in the text. Each is read as it is, then mended once. Nothing found is a fault, never
"nothing to say". An answer that was cut gives its whole elements, and says so.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from governance.formation.contracts import FinishReason, ModelResponse
from governance.formation.errors import AnswerFault
from governance.formation.repair import cut_of, end_of, mended
from recall.contracts import Frozen

SCHEMA, LENGTH = "schema", "length"
WRAPPED, UNWRAPPED, DECODED = "wrapped", "unwrapped", "decoded"
MOST_SEARCHED = 400_000  # characters walked over for values in prose, all tries together
_FENCE = re.compile(r"[ \t]*(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)")
_REFUSED = {FinishReason.CONTENT_FILTER: "content_filter", FinishReason.ERROR: "error"}
_STARTS = {"{": re.compile(r'\{(?=\s*["}])'), "[": re.compile(r"\[(?=\s*[{\]])")}
# What a model thinks aloud before it answers may hold drafts of the answer.
_THOUGHTS = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_LAST_WORDS = re.compile(r"[\s`~.!)]*")


class Kind(StrEnum):
    OBJECT = "object"
    ARRAY = "array"


_OPENERS = {Kind.OBJECT: "{", Kind.ARRAY: "["}


class Wanted(Frozen, frozen=True, kw_only=True):
    """What an answer should be. `member`: of an object, the name that must be in it; the same list bare is taken for it
    when it is `listed`. Of an array, the name under which a tool is given it."""

    kind: Kind
    member: str = ""
    listed: bool = True


class Answer(Frozen, frozen=True, kw_only=True):
    """What was found: decoded JSON, a dict or a list as wanted. `truncated`: the answer was cut, and these are its
    whole elements. `repairs`: what had to be done to read it."""

    value: object
    truncated: bool = False
    repairs: tuple[str, ...] = ()

    def member(self, name: str) -> list[object]:
        """The list of that name in an object; empty when there is none."""
        found = self.value.get(name) if isinstance(self.value, dict) else None
        return found if isinstance(found, list) else []

    @property
    def elements(self) -> list[object]:
        """The list that the answer is; empty when it is none."""
        return self.value if isinstance(self.value, list) else []


def parse(response: ModelResponse, tool: str, wanted: Wanted) -> Answer:
    """The answer of a model that was to call `tool`, or to write JSON. Raises AnswerFault: `schema` when there is no
    such value or more than the one call, `length` when the answer was cut before anything was whole, `content_filter`
    and `error` when the model says so."""
    refused = _REFUSED.get(response.finish_reason)
    if refused is not None:
        raise AnswerFault(refused, f"The model ended with {refused} instead of an answer.")
    cut = response.finish_reason is FinishReason.LENGTH
    if not response.tool_calls:
        return parse_text(response.text, wanted, cut)
    if len(response.tool_calls) > 1 or response.tool_calls[0].name != tool:
        names = ", ".join(call.name[:40] for call in response.tool_calls[:4])
        raise AnswerFault(SCHEMA, f"One call of {tool} was asked for; the model called {names}.")
    found = _fitting(response.tool_calls[0].arguments, wanted)
    if found is None:
        code = LENGTH if cut else SCHEMA
        raise AnswerFault(code, f"The arguments of {tool} are not the {wanted.kind} that was asked for.")
    return msgspec.structs.replace(found, truncated=cut)


def parse_text(text: str, wanted: Wanted, cut: bool = False) -> Answer:
    """The answer in a text. `cut`: whoever wrote it was stopped. Raises AnswerFault `schema` or `length`."""
    text = text.encode("utf-8", "replace").decode("utf-8").strip().removeprefix("\ufeff")
    thoughts = _THOUGHTS.match(text)
    text = text[thoughts.end() :] if thoughts else text
    whole = _read(text, wanted)
    if whole is not None:
        return msgspec.structs.replace(whole, truncated=cut)
    blocks = [found for block in _fenced(text) if (found := _read(block, wanted)) is not None]
    if blocks:  # an empty one may be an example of the form
        found = next((one for one in blocks if not _is_empty(one, wanted)), blocks[0])
        return msgspec.structs.replace(found, truncated=cut)
    searched = _searched(text, wanted)
    if searched is None and wanted.kind is Kind.OBJECT and wanted.member and wanted.listed:
        searched = _searched(text, wanted, "[")
    if searched is not None:
        return msgspec.structs.replace(searched, truncated=searched.truncated or cut)
    if cut:
        raise AnswerFault(LENGTH, "The answer was cut before anything in it was whole.")
    raise AnswerFault(SCHEMA, f"The answer holds no JSON {wanted.kind} as it was asked for.")


def _read(text: str, wanted: Wanted) -> Answer | None:
    """A text that is one JSON value: as it is, else mended."""
    try:
        return _fitting(msgspec.json.decode(text), wanted)
    except (msgspec.MsgspecError, RecursionError):
        pass
    better, repairs = mended(text)
    if not repairs:
        return None
    try:
        found = _fitting(msgspec.json.decode(better), wanted)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return None if found is None else msgspec.structs.replace(found, repairs=(*repairs, *found.repairs))


def _fitting(value: object, wanted: Wanted) -> Answer | None:
    """The value as it was wanted; None when it is something else."""
    match wanted.kind, value:
        case Kind.OBJECT, dict():
            return _with_member(value, wanted.member)
        case Kind.OBJECT, list() if wanted.member and wanted.listed and all(isinstance(one, dict) for one in value):
            return Answer(value={wanted.member: value}, repairs=(WRAPPED,))
        case Kind.ARRAY, list():
            return Answer(value=value)
        case Kind.ARRAY, dict():
            return _unwrapped(value, wanted.member)
    return None


def _with_member(value: dict[str, object], member: str) -> Answer | None:
    """An object that has the member. A list that was written as a string is one all the same."""
    if not member:
        return Answer(value=value)
    inner = value.get(member)
    if isinstance(inner, str) and inner.lstrip().startswith("["):
        listed = _read(inner, Wanted(kind=Kind.ARRAY))
        if listed is not None:
            return Answer(value={**value, member: listed.value}, repairs=(*listed.repairs, DECODED))
    return Answer(value=value) if member in value else None


def _unwrapped(value: dict[str, object], member: str) -> Answer | None:
    """The list in an object: the one of that name, else the only list of objects that it holds."""
    named = _with_member(value, member) if member else None
    if named is not None and isinstance(named.value, dict) and isinstance(named.value[member], list):
        return Answer(value=named.value[member], repairs=named.repairs)
    lists = [one for one in value.values() if isinstance(one, list) and all(isinstance(each, dict) for each in one)]
    return Answer(value=lists[0], repairs=(UNWRAPPED,)) if len(lists) == 1 else None


def _fenced(text: str) -> Iterator[str]:
    """What stands in fenced blocks, in their order."""
    mark, inside = "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not mark:
            if fence is not None:
                mark, inside = fence["mark"], []
        elif fence is not None and fence["mark"].startswith(mark) and not fence["rest"].strip():
            yield "\n".join(inside)
            mark = ""
        else:
            inside.append(line)


def _searched(text: str, wanted: Wanted, opener: str = "") -> Answer | None:
    """The first value in prose that is one and fits, whole or cut. What lies inside of a value that was cut is none."""
    left = MOST_SEARCHED
    opening: Answer | None = None
    for start in (found.start() for found in _STARTS[opener or _OPENERS[wanted.kind]].finditer(text)):
        if left <= 0:
            return None
        end = end_of(text, start)
        left -= (len(text) if end is None else end) - start
        if end is not None:
            found = _read(text[start:end], wanted)
            if found is not None and (not _is_empty(found, wanted) or _alone(text, start, end)):
                return found
            if not start and _ends_its_line(text, end):  # "nothing", and then in words why
                opening = found
        elif (cut := cut_of(text, start)) is not None:
            found = None if cut.whole is None else _read(cut.whole, wanted)
            if found is not None and not _is_empty(found, wanted):
                return msgspec.structs.replace(found, truncated=True)
            if cut.begun and _is_json(cut.closed):
                return None
    return opening


def _ends_its_line(text: str, end: int) -> bool:
    return not text[end:].partition("\n")[0].strip()


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(mended(text)[0])
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True


def _is_empty(found: Answer, wanted: Wanted) -> bool:
    """Whether the answer says that there is nothing: in passing, `[]` and `{}` say nothing at all."""
    inner = found.value.get(wanted.member) if isinstance(found.value, dict) and wanted.member else found.value
    return isinstance(inner, list | dict) and not inner


def _alone(text: str, start: int, end: int) -> bool:
    """Whether the value is what the text comes to: nothing is glued to it, and no words follow."""
    return (start == 0 or text[start - 1] in " \t\n`:") and _LAST_WORDS.fullmatch(text, end) is not None
