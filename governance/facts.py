"""M-03: facts. What a memory states plainly: a subject, a predicate and an object. Pure.

A fact is a reading of a memory, not a second copy of it: the words stand in the memory file, and so does what holds of
it. Read is only what is said outright in one sentence, of a thing that has one such value at a time: a port, a branch,
a version, a tool of a sort of which a project uses one. A wish, a doubt, a condition, a denial and a past are no
statements; whatever is not sure is not read.

The same subject and predicate with another object is a conflict. What a person said stands against what was inferred,
never the other way round; between two things that persons said no date decides, and the conflict is told. What was
superseded or revoked is out of it.
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from recall.contracts import Candidate, Flag, Frozen, MemoryKind, MemoryRecord, Millis, Origin, ScopeRef, Status

LONGEST = 300  # characters of a text that is read
LONGEST_SUBJECT, LONGEST_OBJECT = 60, 60
MILLION = 1_000_000
IS = "is"


class SourceKind(StrEnum):
    """Who says it: a person, or something that concluded it."""

    EXPLICIT = "explicit"
    INFERENCE = "inference"


class Statement(Frozen, frozen=True, kw_only=True):
    """What a sentence states. All three are folded, so that two ways of writing the same are the same."""

    subject: str
    predicate: str
    object: str

    @property
    def about(self) -> tuple[str, str]:
        return self.subject, self.predicate


class Fact(Frozen, frozen=True, kw_only=True):
    """A statement with what is known of it. `confidence` × 10⁶; `ttl`: how long it holds from when it was confirmed."""

    memory_id: str
    scope: ScopeRef
    statement: Statement
    source_kind: SourceKind
    provenance: str
    confidence: int
    confirmed_at: Millis
    ttl: Millis | None = None
    revoked: bool = False

    def holds(self, now: Millis) -> bool:
        return not self.revoked and (self.ttl is None or now < self.confirmed_at + self.ttl)


class Standing(StrEnum):
    """How a fact stands among the others about the same."""

    STANDS = "stands"
    CONFLICT = "conflict"
    OVERRULED = "overruled"  # it was inferred, and a person says otherwise
    REVOKED = "revoked"


class Judged(Frozen, frozen=True, kw_only=True):
    """`against`: the memories that say otherwise, by id."""

    standing: Standing
    against: tuple[str, ...] = ()


_CONFIDENCE = {Origin.USER: MILLION, Origin.REVIEWED: MILLION, Origin.EXTRACTED: 500_000, Origin.IMPORTED: 300_000}
_KEPT_OUT = frozenset({Flag.CORRECTED, Flag.QUARANTINED, Flag.RECHECK})
_PERSONS = frozenset({Origin.USER, Origin.REVIEWED})

# What has one value at a time, whatever word that is; and what is called something, if that is a name.
_ATTRIBUTES = """
address alias branch command default directory domain email endpoint entrypoint folder formatter host hostname key
language license linter location maintainer manager name namespace owner path port prefix region registry repo
repository runner schema shell socket suffix tag timeout timezone topic url user username version zone
"""
_THINGS = """
bucket channel cluster container dashboard database deadline environment framework interpreter module node number
package platform primary project queue release remote replica root runtime server
"""
_attributes, _things = frozenset(_ATTRIBUTES.split()), frozenset(_THINGS.split())
_CHINESE_HEADS = (
    "端口号?|地址|分支|版本号?|域名|主机名?|数据库|名称|名字|路径|命令|目录|文件夹|时区|区域|负责人|用户名?|包管理器|默认值"
    "|仓库|集群|语言|框架|编码|前缀|后缀|超时时间|超时|标签|网址|链接|邮箱|密钥名|环境|负责人|截止日期|许可证|服务器|镜像"
)
# Tools of which a project uses one: who says "we use pnpm" says what the package manager is.
_SORTS = {
    "package manager": "npm pnpm yarn bun",
    "python package manager": "poetry uv pipenv pdm conda",
    "python formatter": "black yapf autopep8",
    "version control": "git mercurial hg svn subversion perforce",
}
_SORT_OF = {tool: sort for sort, tools in _SORTS.items() for tool in tools.split()}
_SORT_NAMES = {"包管理器": "package manager", "包管理工具": "package manager"}

_UNSURE = re.compile(
    r"\b(?:if|when|unless|until|while|whether|should|shall|must|may|might|could|would|can|cannot|maybe|perhaps|probably"
    r"|possibly|usually|often|sometimes|mostly|generally|likely|seems?|think|thinks|believe|guess|apparently|supposed"
    r"|not|never|no|isn't|aren't|don't|doesn't|won't|no longer|was|were|had|used to|previously|formerly|will|going to"
    r"|either|or|but|except|only|also|currently|temporar\w+|for now|today|tomorrow|yesterday)\b|[?？]"
    r"|如果|若|假如|当|除非|可能|也许|大概|或许|应该|应当|必须|可以|通常|一般|有时|似乎|好像|觉得|认为|不|没|无|未|别"
    r"|曾|以前|之前|原来|过去|将|会|或者|或|但|除了|只|也|暂时|目前|今天|明天|昨天|吗|呢|是否",
    re.IGNORECASE,
)
_END = re.compile(r"[.!。！](?=\s|$)|[。！；;]|\n")
_REASON = re.compile(r"[,，]?\s*(?:\b(?:because|since|so that|as)\b|因为|由于|所以|以便).*$", re.IGNORECASE | re.DOTALL)
_WORDS = r"[\w./'-]+"
_COPULA = re.compile(
    rf"(?P<subject>(?:(?:the|our|my|this|that|its) )?{_WORDS}(?: {_WORDS}){{0,7}}?)"
    r"(?: is(?: set to| called| named| on| at| in)?| are|'s value is| equals| defaults to|\s*=|:)\s+(?P<object>\S.*)",
    re.IGNORECASE,
)
_VERB = re.compile(
    rf"(?P<subject>(?:the|our|my) {_WORDS}(?: {_WORDS}){{0,4}}?)"
    r" (?P<verb>listens? on|runs? on|runs? at|lives? (?:at|in|under|on)|deploys? to|points? to|is hosted (?:on|at))"
    r" (?P<object>\S.*)",
    re.IGNORECASE,
)
_USE = re.compile(
    r"(?:we|this (?:project|repo|repository)|the (?:project|repo|repository|team)) uses? (?P<object>[^\s,]+)"
    r"(?: (?:as|for) (?:the |our |a )?(?P<subject>[\w -]+?))?(?: (?:in|for) (?:this|the) (?:project|repo|repository))?",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?P<subject>[^\s，,：:=]{2,30}(?: ?[\w-]+ ?[^\s，,：:=]{1,20})?)\s*(?:是|为|设为|叫|：|:|=)\s*(?P<object>\S.*)"
)
_CHINESE_USE = re.compile(
    r"(?:我们|本项目|这个项目|项目|团队)(?:都|统一)?(?:使用|用|采用)\s*(?P<object>[\w.+-]+)\s*(?:(?:作为|做|来做|当)\s*(?P<subject>\S{2,12}))?"
)
_LEADING = re.compile(r"^(?:the|our|my|this|that|its|a|an)\s+|^(?:我们的|我们|本|该|这个|项目的)", re.IGNORECASE)
_VALUE = re.compile(r"[\w.+@~/:-]*\d[\w.+@~/:-]*|\w+(?:[./:@_-]\w+)+/?|~?/[\w./-]+|[A-Z][\w+#.]*", re.ASCII)
_QUALITY = re.compile(  # what a thing is like, or what is done with it
    r"\b(?:\w+(?:ed|ing|able|ible|ful|ous|ive|less|ant|ent)|a|an|the|very|too|so|wrong|right|long|short|slow|fast|down|up"
    r"|open|free|stale|new|old|broken|taken|read-only|important|required|here|there|ready|full|empty|fine|ok|okay)\b",
    re.IGNORECASE,
)
_CHINESE_QUALITY = re.compile(r"[的了]$|^(?:很|太|非常|比较|十分|最|更|一个|这|那)")
_CHINESE_HEAD = re.compile(rf"(?:{_CHINESE_HEADS})$")
_HAN = re.compile("[\u4e00-\u9fff]")
_QUOTES = "`'\"“”‘’「」 "


def stated(text: str) -> Statement | None:
    """What a text states, if it begins with one plain statement."""
    return _stated(text) if len(text) <= LONGEST else None


@lru_cache(maxsize=4096)  # records come back pass after pass
def _stated(text: str) -> Statement | None:
    plain = unicodedata.normalize("NFKC", text).strip().replace("’", "'")
    first = _END.split(plain, 1)[0]
    sentence = _REASON.sub("", first).strip()
    if not sentence or _UNSURE.search(sentence):
        return None
    return _chinese(sentence) if _HAN.search(sentence) else _english(sentence)


def fact_of(record: MemoryRecord | Candidate) -> Fact | None:
    """The fact that a memory states, if it states one."""
    if record.kind is not MemoryKind.SEMANTIC:
        return None
    statement = stated(record.text if isinstance(record, MemoryRecord) else record.payload)
    if statement is None:
        return None
    expires, created = record.expires_at, record.created_at
    return Fact(
        memory_id=record.memory_id,
        scope=record.scope,
        statement=statement,
        source_kind=SourceKind.EXPLICIT if record.origin in _PERSONS else SourceKind.INFERENCE,
        provenance=record.origin.value,
        confidence=_CONFIDENCE[record.origin],
        confirmed_at=created,
        ttl=None if expires is None else max(0, expires - created),
        revoked=record.status is not Status.ACTIVE
        or record.superseded_by is not None
        or not _KEPT_OUT.isdisjoint(record.flags),
    )


def judged(fact: Fact, others: Iterable[Fact], now: Millis) -> Judged:
    """How a fact stands among others. Those of another scope are no rivals: the closer one holds where it is."""
    if not fact.holds(now):
        return Judged(standing=Standing.REVOKED)
    rivals = [one for one in others if _rival(one, fact) and one.holds(now)]
    said = [one for one in rivals if one.source_kind is SourceKind.EXPLICIT]
    if fact.source_kind is SourceKind.INFERENCE and said:
        return Judged(standing=Standing.OVERRULED, against=_ids(said))
    against = said if fact.source_kind is SourceKind.EXPLICIT else rivals
    return Judged(standing=Standing.CONFLICT if against else Standing.STANDS, against=_ids(against))


def conflicts(facts: Iterable[Fact], now: Millis) -> tuple[tuple[Fact, ...], ...]:
    """The sets of facts that cannot all hold, each with all its members, in the order of their ids."""
    about: dict[tuple[ScopeRef, tuple[str, str]], list[Fact]] = {}
    for fact in sorted(facts, key=lambda one: one.memory_id):
        if fact.holds(now):
            about.setdefault((fact.scope, fact.statement.about), []).append(fact)
    sets = (tuple(_weightiest(group)) for group in about.values())
    return tuple(group for group in sets if len({one.statement.object for one in group}) > 1)


def _weightiest(group: list[Fact]) -> list[Fact]:
    """What persons said, where any did: what was inferred does not stand against it."""
    said = [one for one in group if one.source_kind is SourceKind.EXPLICIT]
    return said or group


def _rival(one: Fact, fact: Fact) -> bool:
    return (
        one.memory_id != fact.memory_id
        and one.scope == fact.scope
        and one.statement.about == fact.statement.about
        and one.statement.object != fact.statement.object
    )


def _ids(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(sorted(one.memory_id for one in facts))


def _english(sentence: str) -> Statement | None:
    used = _USE.fullmatch(sentence)
    if used is not None:
        return _of_tool(used["object"], used["subject"])
    said = _VERB.fullmatch(sentence)
    if said is not None and _is_value(said["object"]):
        return _made(said["subject"], " ".join(said["verb"].lower().split()), said["object"])
    said = _COPULA.fullmatch(sentence)
    if said is None:
        return None
    return _made(said["subject"], IS, said["object"]) if _valued(said["subject"], said["object"]) else None


def _valued(subject: str, value: str) -> bool:
    """Whether a subject is given a value, and not a quality."""
    words, first = subject.lower().split(), value.split()[0]
    if len(value.split()) > 3:
        return False
    if words[-1] in _attributes:
        return _is_value(first) or not _QUALITY.search(value)
    if words[-1] in _things:
        return _is_value(first)
    return words[0] in ("the", "our", "my") and any(map(str.isdigit, value)) and _is_value(value)


def _chinese(sentence: str) -> Statement | None:
    used = _CHINESE_USE.fullmatch(sentence)
    if used is not None:
        return _of_tool(used["object"], used["subject"])
    said = _CHINESE.fullmatch(sentence)
    if said is None:
        return None
    subject, value = said["subject"].strip(), said["object"].strip(_QUOTES)
    if _CHINESE_HEAD.search(subject) and (
        _is_value(value) or (len(value) <= 12 and not _CHINESE_QUALITY.search(value))
    ):
        return _made(subject, IS, value)
    return None


def _of_tool(tool: str, role: str | None) -> Statement | None:
    """What "we use" says: of a tool of a sort of which there is one, or in a role that is named."""
    folded = _folded(tool)
    if role:
        role = _SORT_NAMES.get(_folded(role), _folded(role))
        last = role.split()[-1]
        return _made(role, IS, tool) if last in _attributes or _CHINESE_HEAD.search(role) else None
    sort = _SORT_OF.get(folded)
    return None if sort is None else _made(sort, IS, tool)


def _made(subject: str, predicate: str, value: str) -> Statement | None:
    subject, value = _subject(subject), _folded(value)
    if not (0 < len(subject) <= LONGEST_SUBJECT and 0 < len(value) <= LONGEST_OBJECT):
        return None
    return Statement(subject=_SORT_NAMES.get(subject, subject), predicate=predicate, object=value)


def _is_value(text: str) -> bool:
    """Whether a text is a value rather than a quality: a number, a name of something, a path, what stands in quotes."""
    bare = text.strip().rstrip(".,")
    if len(bare) > 2 and bare[0] == bare[-1] == "`":
        return True
    return _VALUE.fullmatch(bare.strip(_QUOTES)) is not None


def _subject(text: str) -> str:
    folded = _folded(text)
    while (shorter := _LEADING.sub("", folded, count=1)) != folded and shorter:
        folded = shorter
    return folded.removesuffix("的").replace("的", "")


def _folded(text: str) -> str:
    return " ".join(text.strip().rstrip(".,;，。；").strip(_QUOTES).casefold().split())
