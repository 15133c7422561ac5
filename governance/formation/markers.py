"""Sentences in which a user asks that something be remembered (formation.md 4.3). Pure, linear.

They count without any model: the sentence is both the note and its quote. Only what is said as such counts: not a
question ("do you remember…?"), not a report ("it never worked"), not what stands in a code block, in quotation marks or
behind "the docs say". Where a line only announces ("Remember:"), the lines after it are what is meant.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo
from typing import NamedTuple

from governance.formation.admit import LONGEST_TITLE, Terms
from governance.formation.contracts import (
    Attribution,
    Coverage,
    ExtractL1Result,
    Message,
    NoteBody,
    NoteCreated,
    NoteKind,
    Provenance,
    Quote,
    Rejected,
    Role,
    RunStatus,
    Use,
)
from governance.formation.dates import written
from governance.formation.judging import proposed
from governance.formation.windows import packet_of, source_of
from recall.contracts import Frozen, Millis

ALGORITHM = "markers_pre_v1"
RULE = "rule"  # the author of such a note, and its model
LONGEST_TEXT = 64 * 1024  # characters of a message that are looked at
LONGEST_SENTENCE = 600  # what is longer was pasted
MOST_OF_MESSAGE = 8
_SIMPLIFIED = str.maketrans(
    "記憶遠從現後別絕對萬務請應該統單終總為終開遵無論時說", "记忆远从现后别绝对万务请应该统单终总为终开遵无论时说"
)

# -- English, on lower case; the curly apostrophe stands for every apostrophe

_AHEAD = r"(?:^|[,;:—–]\s*|\b(?:please|pls|and|so|also|but|ok|okay|just|then|must|should|shall|need to|have to"
_CALLED = _AHEAD + r"|(?:can|could|would|will) you(?: please)?|you(?: please)? to)[\s,]+)"
_SURE = r"(?:make|be) sure(?: that)?(?: you| we| to)|ensure(?: that)? (?:you|we)|let’s|by default"
_RULED = (
    _AHEAD + rf"|(?:you|sure|want|prefer|like|careful|agreed|decided) to|we|{_SURE}"
    r"|(?:can|could|would|will) you(?: please)?)[\s,]+)"
)
_PAST = (
    "got|gotten|was|were|been|had|has|did|does|saw|seen|told|said|knew|went|came|made|took|gave|found|thought|felt|ran"
    "|wrote|broke|done|is|are|the|a|an|in|on|at|there|this|that|these|true|false|null|zero|empty|wrong|right|mind|ever"
    "|again|really|quite|so|too|been|gonna|going|able|sure|heard|see|hear|understand"
)
_DONE = rf"(?!(?:\w+ly\s)?(?:(?:{_PAST})\b|\w+ed\b|\w+(?<!s)s\b))"  # a report: "always fails", "never worked"
_ENGLISH = (
    rf"{_CALLED}remember(?:\s*[:,]|\s+(?!(?:when|how|if|what|why|where|who|me|\w+ing)\b))",
    rf"{_CALLED}(?:keep|bear)(?: this| that| it| the following)? in mind\b",
    rf"{_CALLED}(?:do not|don’t|dont)(?: you)? ever\b",
    rf"{_CALLED}(?:do not|don’t|dont)\b[^.!?]{{3,120}}\b(?:again|any ?more)\b(?! (?:if|until|unless|than)\b)",
    rf"{_CALLED}never again (?!{_PAST})[a-z]",
    rf"{_CALLED}(?:please )?stop (?:using|adding|writing|creating|putting|making|committing|pushing|asking|suggesting"
    r"|generating|calling|editing|changing|inserting|leaving|importing|mocking) \w",
    r",\s*always\s*[.!]*$",
    r"\b(?:do not|don’t|dont|never|(?:sure|try|careful|please) not to) forget\b(?! (?:it|me|about it)\s*$)",
    r"\b(?:make|take) (?:a )?note\b|\bnote for (?:the )?(?:future|later|next time)\b",
    r"\bfor (?:the )?future(?: reference\b|\s*[:,])|\bfor next time\b",
    r"^next time\b(?! (?:we|i) (?:meet|talk|speak|see)\b)",
    r"^in (?:the )?future\b(?!,? (?:we|i|it|they|this|that|there)"
    r"(?:’ll| (?:may|might|could|will|would|can|plan|want|hope))\b)",
    r"\bfrom (?:now|here|today|this point) (?:on|forward|onwards?)\b|\bhenceforth\b",
    r"\bgoing forward\b|(?:^|[,;]\s*)moving forward\b",
    r"\bas a (?:general )?rule\b|\bmake it a rule\b",
    r"\b(?:save|store|add|put|write|commit) (?:this|that|it)\b.{0,20}\b(?:as (?:a )?memor(?:y|ies)|to (?:your |the )?"
    r"(?:long-term )?memory)\b|\bmemori[sz]e (?:this|that)\b",
    rf"{_CALLED}(?:save|store|add|put|write|commit|update)(?: to| in| into)? (?:your |the |long-term )*memory"
    r"\s*(?:[:,]|that\b)",
    r"\bnote to (?:self|yourself)\s*[:,]",
    rf"{_RULED}(?:always|never(?: ever)?)\s+{_DONE}[a-z]",
    r"\bi (?:always|never) (?:want|use|like|prefer|work|write|commit|deploy|need)\b",
)
_POLITE = re.compile(r"\b(?:can|could|would|will) you\b|\bplease\b|请|麻烦")
_TAG = re.compile(r"[,，、]?\s*(?:ok|okay|right|yes|please|alright|好吗|好么|可以吗|行吗|好不好)\s*[?？]+$")
_ASKED = re.compile(r"[?？][”’\"'」』)）\s]*$|[吗么呢][。.\s]*$")

# -- Chinese, on simplified characters

_CLAUSE = (
    r"(?:^|[，,；;：:、。]\s*|(?:请|要|那|那么|你|你们|我们|大家|麻烦|务必|必须|应该|应当|一定要|并|而且|所以)\s*)"
)
_CHINESE = (
    r"(?<![没不难以能会易])记住(?!了|(?:我|密码|登录|账号|用户名?|状态|位置)?的?(?:功能|选项|按钮|复选框|勾选|开关|状态))|给我记[住好]",
    "切记|牢记|谨记|铭记",
    "(?:任何时候|任何情况下|无论何时|无论如何|不管什么时候)都?(?:不要|别|不能|不准|不许|不得|要|必须|用|使用)",
    rf"(?:{_CLAUSE}|以后|下次|每次)记得(?![吗么]|之前|上次|当时|以前|[你了不])",
    "(?:别|不要|勿|莫)忘(?:了|记)?",
    "(?:请|帮我|你)?记一下|记下来|(?:记|加|存|写|放)[入到进](?:你的)?(?:长期)?记忆",
    rf"{_CLAUSE}(?<!从那)以后(?!再[说看弄议]|可能|会不会|应该没|的|有空|也许|或许|呢)",
    r"以后都(?:要|得|必须|用|使用|请|先|按|走|写|放|别|统一|保持|遵循|改用|默认|不[要准许得])",
    rf"从(?:现在|今天|今|此|这次)(?:起|开始|以后|往后)(?!计时|计算|算|就)|{_CLAUSE}(?:今后|往后|日后|下次|下回)(?!再[说看弄议]|呢)",
    r"(?:不要|别)再(?!(?:问|说|提|想|讲|解释|纠结)了?[。！!～~\s]*$)|永远(?:都)?(?:不要|别|不能|不准|不许|不得)|绝对?(?:不要|不能|不许|不准|别)|千万(?:别|不要)",
    rf"{_CLAUSE}(?:始终|总是|一律|永远)(?:都|要|用|使用|请|先|保持|遵循|按|走|以|在(?![报出失崩变]))",
    rf"{_CLAUSE}每次(?:都(?:先|用|使用|走|按|遵循|保持)|[^，。！？]{{0,16}}?都?(?:要(?![等花求]|重新)|必须|应该|务必|请))",
)
# -- the commonest of a few other languages
_OTHERS = (
    r"\b(?:merke? dir|denk(?:e)? daran|vergiss nicht|von nun an|ab (?:jetzt|sofort)|nicht vergessen)\b",
    r"\b(?:recuerda que|no olvides|a partir de ahora|souviens-toi|n’oublie pas|à partir de maintenant|désormais)\b",
    "覚えて(?:おいて|ください)|忘れないで|(?:今後|これから)は|기억해|잊지 ?마|앞으로(?:는|도)?",
)
MARKERS = re.compile("|".join((*_ENGLISH, *_CHINESE, *_OTHERS)))
# What others say: "the docs say: never …", 文档里说….
_REPORTED = re.compile(
    r"(?<!\bi )\b(?:says?|said|states?|stated|reads?|warns?|warned|prints?|printed|writes?|wrote|shows?|showed"
    r"|recommends?|recommended|told (?:me|us|them))(?: that| to)?[\s:：,“\"]*$"
    r"|(?<!我)(?:说|写着?|称|提示|警告|显示|报错|告诉[我们]+)(?:的是|道|了)?[\s：:，,“\"「『]*$"
)
# A sentence without any of these is no marked one: most are told by that alone.
_SIGNS = (
    *("remember", "in mind", "forget", "note", "future", "next time", "from ", "forward", "henceforth", "rule"),
    *("memor", "always", "never"),
    *(
        "记",
        "忘",
        "以后",
        "从",
        "今后",
        "往后",
        "日后",
        "下次",
        "下回",
        "再",
        "永远",
        "绝",
        "千万",
        "始终",
        "总是",
        "一律",
        "每次",
        "任何",
        "无论",
        "不管",
    ),
    *("again", "more", "stop", "ever", "merk", "denk", "vergi", "vergess", "von nun", "ab jetzt", "ab sofort"),
    *(
        "recuerda",
        "olvides",
        "partir de",
        "souviens",
        "oublie",
        "désormais",
        "覚",
        "忘",
        "今後",
        "これから",
        "기억",
        "잊지",
        "앞으로",
    ),
)
ANNOUNCES = re.compile(
    r"\W*(?:(?:please |pls )?(?:always )?(?:remember|keep in mind|don’t forget|do not forget|note for the future"
    r"|from now on|going forward|in (?:the )?future|always|never)(?: (?:this|that|the following|these))?(?: rules?)?"
    r"|(?:请|务必)*(?:记住|记得|以后都?|从现在[起开]始?|今后)(?:以下|下面|这)?(?:几点|规则|事项|些)?)\s*[:：]\s*"
)

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_SET_APART = re.compile(r"[ \t]*[>|<]|(?: {4}|\t)(?![ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t])")
_BULLET = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)、]|\[[ xX]\])[ \t]*(?<![*+\d-]))+")
_STOP = re.compile(
    r"[。！？!?；]+[”’\"'」』)）]*|\.(?=\s|$)(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)(?<!cf\.)|;(?=\s)|\n"
)
_ENOUGH = re.compile(r"\b[^\W_]{2,}+\W++[^\W_]|[\u3400-\u9fff]{3}")


class Sentence(Frozen, frozen=True, kw_only=True):
    """A slice of a message: code points, half-open."""

    start: int
    end: int
    text: str


class _Line(NamedTuple):
    """A line as it was meant: wrapped ones are one. `bullet`: it is an item of a list, which begins at `start`."""

    start: int
    end: int
    bullet: bool


def marked(text: str) -> tuple[Sentence, ...]:
    """The sentences of a user's message that ask to be remembered, in order; at most MOST_OF_MESSAGE."""
    text = text[:LONGEST_TEXT]
    found: list[Sentence] = []
    announced = listing = False
    for line in _lines(text):
        listing = listing and line.bullet
        meant = announced or listing
        if not meant and ANNOUNCES.fullmatch(_plain(text[line.start : line.end])):
            announced = True
            continue
        found += [one for one in _sentences(text, line) if _counts(one.text) and (meant or _asks(one.text))]
        listing = meant and line.bullet
        announced = False
    return tuple(found[:MOST_OF_MESSAGE])


def remembers(text: str) -> bool:
    """Whether a user's message asks that something be remembered."""
    return bool(marked(text))


def explicit(text: str, start: int, end: int) -> bool:
    """Whether a quote of a user's message, from `start` to `end`, lies in a sentence that asks to be remembered."""
    return any(one.start < end and start < one.end for one in marked(text))


def marked_notes(
    messages: Sequence[Message], scope_key: str, stream_id: str, now: Millis, zone: tzinfo = UTC
) -> tuple[ExtractL1Result, ...]:
    """Pending notes of the marked sentences of users' messages: a run for each message, over that message alone, so
    that the same sentence has the same note however often it is looked at. `messages`: in their order."""
    runs: list[ExtractL1Result] = []
    for place, message in enumerate(messages):
        sentences = marked(message.content) if message.role is Role.USER else ()
        if sentences:
            runs.append(_run(message, place, (scope_key, stream_id), sentences, (now, zone)))
    return tuple(runs)


def _run(
    message: Message,
    place: int,
    stream: tuple[str, str],
    sentences: Sequence[Sentence],
    when: tuple[Millis, tzinfo],
) -> ExtractL1Result:
    packet = packet_of(*stream, [source_of(message, place, Use.NEW)])
    now, zone = when
    notes: dict[str, NoteCreated] = {}
    rejected: list[Rejected] = []
    for index, one in enumerate(sentences):
        dated = " ".join(written(one.text, message.timestamp or None, zone).split())  # what "tomorrow" was that day
        body = NoteBody(
            kind=NoteKind.FACT,
            title=_title(dated),
            content=dated,
            attribution=Attribution.USER_STATEMENT,
            citations=(Quote(message_id=message.id, quote=one.text),),
        )
        note = proposed(body, packet, RULE, Terms(zone=zone), index)
        if isinstance(note, Rejected):
            rejected.append(note)
        else:
            notes.setdefault(note.id, NoteCreated(after=note))
    return ExtractL1Result(
        status=RunStatus.PARTIAL if rejected else RunStatus.COMPLETED,
        coverage=Coverage(total=1, from_=place, through=place + 1, new_ids=(message.id,)),
        provenance=Provenance(
            algorithm_version=ALGORITHM,
            model_id=RULE,
            prompt_id="",
            prompt_hash="",
            input_hash=packet.evidence_digest,
            calls=0,
            started_at=now,
            finished_at=now,
        ),
        changes=tuple(notes.values()),
        packet=packet,
        rejected=tuple(rejected),
        unrepresented_source_ids=() if notes else (message.id,),
    )


def _title(text: str) -> str:
    """The sentence, or its first whole words."""
    if len(text) <= LONGEST_TITLE:
        return text
    head = text[: LONGEST_TITLE - 1]
    return f"{head.rpartition(' ')[0] or head}…"


def _counts(text: str) -> bool:
    """Whether a sentence says something, and was written and not pasted."""
    return len(text) <= LONGEST_SENTENCE and _ENOUGH.search(text) is not None


def _asks(text: str) -> bool:
    plain = _plain(text)
    if not any(sign in plain for sign in _SIGNS):
        return False
    if _ASKED.search(plain) and not _TAG.search(plain) and not _POLITE.search(plain):
        return False
    return any(not _of_others(plain[: found.start()]) for found in MARKERS.finditer(plain))


def _of_others(before: str) -> bool:
    """Whether what stands before a marker says that others speak: "the docs say", a quotation mark that is open."""
    opened = any(before.count(mark) > before.count(close) for mark, close in ("“”", "「」", "『』"))
    return opened or before.count('"') % 2 == 1 or before.count("`") % 2 == 1 or bool(_REPORTED.search(before))


def _plain(text: str) -> str:
    """As the markers are written: lower case, simplified, one kind of blank and of apostrophe."""
    return " ".join(text.translate(_SIMPLIFIED).replace("'", "’").replace("*", "").lower().split())


def _lines(text: str) -> Iterator[_Line]:
    """The lines that the user wrote as text, those of a wrapped sentence together."""
    fence, open_line = "", None
    place = 0
    for raw in text.split("\n"):
        start, place = place, place + len(raw) + 1
        mark = _FENCE.match(raw)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        written = not fence and not mark and raw.strip() and not _SET_APART.match(raw)
        bullet = _BULLET.match(raw)
        begins = start + (bullet.end() if bullet else len(raw) - len(raw.lstrip()))
        if open_line is not None and written and not bullet and _goes_on(text, open_line, begins):
            open_line = open_line._replace(end=start + len(raw))
            continue
        if open_line is not None:
            yield open_line
        open_line = _Line(begins, start + len(raw), bullet is not None) if written else None
    if open_line is not None:
        yield open_line


def _goes_on(text: str, line: _Line, place: int) -> bool:
    """Whether the line that begins at `place` goes on with the one before: it starts small, and that has no end."""
    last = text[line.start : line.end].rstrip()[-1:]
    return text[place : place + 1].islower() and last not in ".!?;:。！？；："


def _sentences(text: str, line: _Line) -> Iterator[Sentence]:
    """The sentences of a line, without blanks around them."""
    wrapped = text[line.start : line.end].replace("\n", " ")
    last = 0
    for stop in [*(found.end() for found in _STOP.finditer(wrapped)), len(wrapped)]:
        piece = wrapped[last:stop]
        start = line.start + last + len(piece) - len(piece.lstrip())
        end = line.start + last + len(piece.rstrip())
        last = stop
        if start < end:
            yield Sentence(start=start, end=end, text=text[start:end])
