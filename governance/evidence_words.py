"""What evidence reads in a user's own words: that something worked, or that a memory is wrong. Pure.

English and Chinese, and both read narrowly. A wrong "it worked" makes a memory rise that nobody used; a wrong "that is
wrong" takes one out of recall. What is asked, quoted, meant for this once or said in agreement with a memory is
neither.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from governance.evidence import named
from recall.contracts import Frozen

LONGEST = 600  # characters that are read: who corrects is brief
SHORT = 240  # characters of a text that says no more than that it worked


class Turn(Frozen, frozen=True, kw_only=True):
    """What a user says is not so, and what is in its place, if he says it."""

    rejected: str
    proposed: str = ""


class Complaint(Frozen, frozen=True, kw_only=True):
    """What a user's text takes back. `ids`: memories that it calls wrong by name. `pointed`: it calls the memory wrong
    that was just shown ("that note is outdated"). `turns`: statements that it puts others in place of."""

    said: str
    ids: frozenset[str] = frozenset()
    pointed: bool = False
    turns: tuple[Turn, ...] = ()


def _any(patterns: Iterable[str]) -> str:
    return "|".join(patterns)


_FENCED = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*$", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[!;。！；\n])|(?<=[?？])|(?<=\.)(?=\s|$)")
_ASKS = re.compile(
    r"[?？]\s*$|[吗呢嘛]\s*[。!！]*\s*$|^\s*(?:is|are|was|were|does|do|did|should|shouldn't|isn't|can|could|would|why|what|how)\b"
    r"|是不是|是否|能不能|对不对|对吗",
    re.IGNORECASE,
)

# ------------------------------------------------------------------------------------------------------ it worked

_SUBJECT = (
    r"(?:it|that|this|everything|all|they"
    r"|the (?:test|tests|build|fix|suite|command|script|server|app|page|migration))"
)
# Where somebody begins to say it: not "how it works", not "a test that passes".
_BEGUN = r"(?:^|[,.!;:-]\s*|\b(?:and|yes|yep|yeah|ok|okay|great|nice|perfect|now|finally|cool|awesome)\s+)"
_WORKED = (
    rf"{_BEGUN}{_SUBJECT}(?:'s| is| are)?(?: all)?(?: now| finally)?"
    r" (?:work(?:s|ed|ing)|pass(?:es|ed|ing)?|compiles|succeeded|fixed|green)\b",
    rf"{_BEGUN}(?:that|this|it) (?:did (?:the trick|it)\b|(?:fixed|solved) (?:it|that|the \w+)\b|helped(?=\W*$))",
    r"\b(?:works|working|fixed|solved|passes|passing|green)"
    r"(?: (?:now|again|perfectly|great|fine|well|like a charm))+\b",
    r"^\W*(?:(?:yes|yep|yeah|great|perfect|nice|awesome|excellent|cool|ok|okay)\W+)*"
    r"(?:works|worked|fixed|solved|all green|all good now)\b(?=\W*$|\W+(?:thank|thx|great|perfect|nice|cheers))",
    r"\bproblem (?:is )?(?:solved|fixed|gone)\b|\bno more errors?\b|\bthe error is gone\b",
    r"(?:成功|搞定|解决|修好|通过|跑通|好使)(?:了|啦)|(?:测试|构建|编译)?(?:都|全部?|已经?)通过(?:了)?",
    r"(?:现在|终于|已经)?(?:可以|能)(?:用|跑|运行|工作|编译|启动)了|(?:现在|终于)(?:好|可以|正常|没问题)了",
    r"问题(?:已经?)?(?:解决|没有)了|(?:有效|管用|奏效)(?:了|!|！|。|$)|不报错了|(?:运行|工作|一切)正常(?:了)?",
    r"^(?:可以|没问题|行)了|^好了[，,。!！\s]*(?:多?谢谢?|感谢|太棒了)?[了!！。]*$",
)
_WORKED_RE = re.compile(_any(_WORKED), re.IGNORECASE)
_BUT = re.compile(
    r"\b(?:not|no|n't|never|but|however|although|except|still|yet|only|unless|if|when|once|until|should|would|will"
    r"|might|make sure|wrong|fail\w*|error(?!s? (?:is |are )?gone)|broken|again and|almost|partly|half|locally|before"
    r"|whether)\b|n't\b"
    r"|不(?!报错)|没(?!问题)|未|但|可是|不过|还是|仍|如果|要是|除了|只有|应该|差点|失败|报错(?!了)|才(?:能|行)|希望"
    r"|之后|等|再|如何|怎么|把",
    re.IGNORECASE,
)
_MORE_ERRORS = re.compile(r"\bno more errors?\b|\bthe error is gone\b|不报错了", re.IGNORECASE)


def confirms(text: str) -> bool:
    """Whether a user says, of what was just done, that it worked: "that fixed it", "works now", 测试通过了.

    Thanks and "go on" say nothing of it, nor does a text with a but, a not or an if.
    """
    plain = _plain(text)
    if not plain or len(plain) > SHORT:
        return False
    sentences = _sentences(plain)
    if any(_ASKS.search(one) for one in sentences) or _BUT.search(_MORE_ERRORS.sub(" ", plain)):
        return False
    return any(_WORKED_RE.search(one) for one in sentences)


# ----------------------------------------------------------------------------------------------- a memory is wrong

_NOUN = r"(?:memory|memories|note|notes|reminder|reminders|recalled \w+)"
_WRONG = (
    r"(?:wrong|incorrect|inaccurate|outdated|out[- ]of[- ]date|stale|obsolete|mistaken"
    r"|not (?:true|right|correct|accurate|valid)"
    r"|no longer (?:true|right|correct|valid|applies|apply|accurate|the case|holds))"
)
_IS = (
    r"(?:is|are|was|were|'s|'re|looks|look|seems|seem)"
    r"(?: (?:just|all|now|simply|actually|clearly|completely|plain|totally|a bit))?"
)
_POINTED = re.compile(
    rf"\b(?:that|this|those|these|your) {_NOUN}(?: (?:about|on|of|for|regarding) [^,.;!?]{{1,60}}?)? ?{_IS} {_WRONG}\b"
    rf"|\b(?:that|this)(?:'s| is) (?:a |an )?(?:wrong|incorrect|outdated|stale|obsolete) {_NOUN}\b"
    rf"|\b(?:your|that|this) {_NOUN} (?:no longer|doesn't|does not) (?:applies|apply|holds?)\b"
    r"|(?:这条|那条|这个|那个|你的|你那条|上面的?|刚才的?)(?:记忆|笔记|备忘|提醒)[^，,。；;！!？?\n]{0,20}?"
    r"(?:不对|错了|有误|是错的|不正确|不准确|过时了?|过期了?|失效了?|作废了?|不再适用|不再成立)"
    r"|你(?:的记忆|记)(?:错了|得不对|的不对|的是错的|的过时了)",
    re.IGNORECASE,
)
# Notes and reminders that the work itself is about: on a page, in a bug, in somebody's words.
_THE_WORKS = re.compile(
    r"\b(?:bug|ticket|readme|changelog|ui|screen|page|button|dialog|widget|calendar)s?\b|\bdocs/"
    r"|页面|界面|功能|按钮|弹窗|日历",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|(?<!\w)'[^'\n]*'(?!\w)")
_WRONG_RE = re.compile(
    rf"{_IS} {_WRONG}\b|\b(?:wrong|incorrect|outdated|obsolete|stale)\b"
    r"|不对|错了|有误|是错的|不正确|过时|过期|失效|作废|不再适用",
    re.IGNORECASE,
)
_NOT_WRONG = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|nothing|never) (?:\w+ )?(?:wrong|incorrect|outdated|stale|obsolete)\b"
    r"|(?:没有?|并没|不)(?:过时|过期|错)",
    re.IGNORECASE,
)
_AGREES = re.compile(
    rf"\b(?:as|like|just like|per|follow\w*|according to|remember) (?:the|your|that|this|our|what the) {_NOUN}\b"
    rf"|\b{_NOUN} (?:is|was|were|are) (?:still )?(?:right|correct|true|accurate)\b"
    rf"|\b(?:ignored|forgot|missed|skipped|should have (?:read|followed|used)) (?:the|your|that|this|our) {_NOUN}\b"
    rf"|\b(?:read|check|see|use) (?:the|your|that|this|our) {_NOUN}\b"
    rf"|\b{_NOUN} (?:says|said|already says|tells|told)\b"
    r"|(?:按照?|根据|照着?|参考|看看?|遵循|像)(?:你的|这条|那条|上面的?|之前的?)?(?:记忆|笔记|备忘|提醒)"
    r"|(?:记忆|笔记|备忘|提醒)(?:里|中)?(?:说|写|提)|(?:记忆|笔记|备忘)(?:是|才是)?(?:对的|正确的|没错)",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\b(?:for now|this time|just (?:here|now|this)|today|temporar\w+"
    r"|(?:in|for) this (?:case|branch|pr|file|test|commit|session|one)|once|until)\b"
    r"|这次|这回|暂时|临时|先(?:用|改|跑|不)|今天|(?:这个|本|当前)(?:分支|文件|测试|提交|例子|会话)|这里先",
    re.IGNORECASE,
)
_WORD = r"[^\s,;:!?，。；！？]+"
_SOME = rf"{_WORD}(?: {_WORD}){{0,4}}?"
_STOPS = (
    r"(?=\s*(?:[,;:!?]|\.(?:\s|$)|$)"
    r"|\s+(?:any ?more|now|because|since|as|for|in|and|but|anymore|either)\b)"
)
_OF = r"(?:(?:use|using|run|on|in|at|to|with|from|the|a|port|version)\s+)*+"
_BE = (
    r"(?:use|using|uses|is|are|it's|that's|be|to|on|at|in|with|from|via|by|into|under|after|every|within|run|runs"
    r"|called|named|needs?|we're)"
)
_NOW = r"(?:it's|it is|we use|we|now|that's|now it's|the right one is)"
_P, _R = rf"{_OF}(?P<p>{_SOME})", rf"{_OF}(?P<r>{_SOME})"
_PIECE = r"[^，,。；;！!？?\n]{1,24}?"
_ENDS = r"(?=[了的]?\s*(?:[，,。；;！!？?\n]|$))"
# The first one alone says that a memory says otherwise; the others are read where nobody agrees with a memory.
_MAY = re.compile(
    rf"\b(?:not|instead|rather|longer|from|but|don't|doesn't|wrong|{_WRONG})\b|memor|note|remind|不|错|从|误|过时|过期|失效|作废",
    re.IGNORECASE,
)
_TURNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NOUN} (?:says?|said|claims?|has|mentions?) {_R},? but {_NOW} (?:now )?{_P}{_STOPS}",
        rf"\b{_BE}\s+{_P},?\s+(?:and\s+)?(?:not|instead of|rather than|no longer)\s+{_R}{_STOPS}",
        rf"\bnot\s+{_R}(?:\s+any ?more)?\s*[,;:]?\s*(?:but|it's|it is|we use|use|they're|we're on)\s+{_P}{_STOPS}",
        rf"\b(?:instead of|rather than)\s+{_R},?\s+(?:use|we use|it's|it is|run)\s+{_P}{_STOPS}",
        rf"\b(?:moved|switched|migrated|changed|renamed|went)(?: \w+){{0,3}}? from\s+{_R}\s+to\s+{_P}{_STOPS}",
        rf"\b(?:we|it|they|that) (?:don't|do not|doesn't|does not)\s+(?:use|run|need)\s+{_R}"
        r"\s+(?:any ?more|any longer)\b",
        r"\b(?:no longer)\s+(?:use[sd]?|on|in|at|called|named|need(?:s|ed)?|run(?:s|ning)?(?: on)?)"
        rf"\s+{_R}{_STOPS}",
        rf"不是\s*(?P<r>{_PIECE})[，,]?\s*(?:而是|应该是|应该用|用的是|是用|是)(?P<p>{_PIECE}){_ENDS}",
        rf"(?:用的?是|应该用|应该是|要用|改用|改成|换成|现在用|现在是|是|用)\s*(?P<p>{_PIECE})[，,]?\s*"
        rf"(?:而不是|不是|不再是|不再用|不用|别用|不要用)\s*(?P<r>{_PIECE}){_ENDS}",
        rf"(?:不再使?用|已经?不用|早就不用)\s*(?P<r>{_PIECE})(?:了)?[，,]\s*"
        rf"(?:而是|改用|改成|换成|现在用|改为|用)\s*(?P<p>{_PIECE}){_ENDS}",
        rf"从\s*(?P<r>{_PIECE})\s*(?:改|换|迁移?|切换?|升级?)(?:成|到|为)了?\s*(?P<p>{_PIECE}){_ENDS}",
    )
)


def complaint(text: str) -> Complaint | None:
    """What a user's text takes back; None: nothing that could be a memory."""
    plain = _plain(text)
    if _MAY.search(plain) is None:
        return None
    said = [one for one in _sentences(plain) if not _ASKS.search(one)]
    wrong = [one for one in said if _WRONG_RE.search(one) and not _NOT_WRONG.search(one)]
    ids = frozenset[str]().union(*(named(one) for one in wrong if not _AGREES.search(one)))
    pointed = any(_points(one) for one in wrong)
    held = [one for one in said if not _ONCE.search(one)]
    agrees = _AGREES.search(plain) is not None
    turns = tuple(turn for one in held for turn in _turns(one, agrees))
    if not (ids or pointed or turns):
        return None
    return Complaint(said=plain, ids=ids, pointed=pointed, turns=turns)


def _points(sentence: str) -> bool:
    """Whether a sentence calls the memory wrong that was shown, in its own words."""
    own = _QUOTED.sub(" ", sentence)
    found = _POINTED.search(own)
    if found is None:
        return False
    clause = own[: found.end()] + re.split(r"[,;:，；：]", own[found.end() :], maxsplit=1)[0]
    return _THE_WORKS.search(clause) is None


def _turns(sentence: str, agrees: bool) -> Iterator[Turn]:
    for place, pattern in enumerate(_TURNS):
        if agrees and place:  # only the first one says that a memory says otherwise
            return
        for match in pattern.finditer(sentence):
            found = match.groupdict()
            yield Turn(rejected=_bare(found.get("r")), proposed=_bare(found.get("p")))


def _bare(piece: str | None) -> str:
    return (piece or "").strip().rstrip(".。")


def _plain(text: str) -> str:
    """The text under NFKC without code blocks and quoted lines, cut to what is read."""
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")
    return _FENCED.sub(" ", folded[:LONGEST]).strip()


def _sentences(plain: str) -> list[str]:
    return [one for part in _SENTENCE.split(plain) if (one := part.strip())]
