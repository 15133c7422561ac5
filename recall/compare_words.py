"""The words by which two texts are compared (`recall.compare`): English, German, Chinese, Japanese, Korean. Data."""

import re

# An article before a word, not written large: "option A" keeps its name, and so does "Vitamin a" at the end.
ARTICLES = re.compile(
    r"(?<!\S)(?:[Tt]he|an|a|[Pp]lease|der|das|dem|ein|eine|einen|einem|einer|[Bb]itte) (?=[^\W\d_]{2})"
)

DAYS = (
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
    r"|\b(?:mon|diens|donners|frei|sams|sonn)tags?\b|\b(?:mittwochs?|sonnabends?)\b"
    r"|(?:星期|礼拜|禮拜|周|週)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일"
)
MONTHS = (
    r"\b(?:january|february|april|june|july|august|september|october|november|december"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember)\b"
)
SINCE = re.compile(
    r"\b(?:since|as of|starting (?:with|from|in)|beginning with|seit|ab)\s+(?:version\s+)?v?\d[\w.-]*"
    r"|(?:从|自从|自)\s*v?\d[\w.]*\s*(?:版本?)?\s*(?:起|开始|以来|之后)"
    r"|v?\d[\w.]*\s*(?:から|以降)は?|v?\d[\w.]*\s*부터",
    re.IGNORECASE | re.ASCII,
)

_PLAIN = (
    "the a an of our your their its this that these we you they all now also do does please"
    " der das dem des ein eine einen einem einer unser unsere bitte auch jetzt"
)
_COPULA = "is are was were has have runs lives ist sind war waren hat haben läuft liegt 是 は が 은 는"
_SLOT = (
    "is are was were be to use uses using need needs require requires return returns in on at as from by with run runs"
    " after every default = prefer prefers"
    " ist sind war waren sein liefert liefern gibt nutzt nutzen verwendet verwenden benutzt benutzen heißt lautet läuft"
    " laufen am um auf mit unter über von nach vor braucht brauchen erfordert"
    " 是 为 用 在 到 成 于 每 要 回 は が を に で 은 는 을 를"
)
_REFERRED = (
    "adr rfc pr issue ticket step phase chapter section page figure table case part item option node worker shard"
    " server schritt kapitel seite abschnitt abbildung tabelle 步骤 第"
)
_QUANTITY = (
    "limit timeout port version size count max min maximum minimum budget ttl interval retries retry threshold depth"
    " level quota length width height age price rate delay capacity"
    " s ms sec seconds minutes min h hours days weeks kb mb gb kib mib gib percent times"
    " zeitlimit grenze anzahl größe höchstens mindestens sekunden minuten stunden tage"
    " 限 时 数 量 值 口 本 秒 分 天 时 周 月 年 元 次 個 个 件 回 日 円 초 분 일"
)
_CHOICE = "not never over before after instead rather than nicht nie statt vor nach lieber 不 而"
_OPPOSITES = (
    "always/never on/off with/without true/false yes/no enabled/disabled enable/disable allow/forbid"
    " allowed/forbidden allowed/disallowed before/after above/below up/down min/max minimum/maximum required/optional"
    " public/private left/right first/last include/exclude add/remove start/stop open/closed supported/unsupported"
    " immer/nie mit/ohne eingeschaltet/ausgeschaltet vor/nach erlaubt/verboten ja/nein aktiviert/deaktiviert über/unter"
    " 前/后 上/下 开/关 有/无 前/後 有/無"
)

PLAIN = frozenset(_PLAIN.split())  # words that are left out before two sentences are compared
COPULA = frozenset(_COPULA.split())  # what stands before these is a subject, not a value
SLOT = frozenset(_SLOT.split())  # what stands behind these is a value
REFERRED = frozenset(_REFERRED.split())  # what stands behind these is a name: step 1 and step 2 are two things
QUANTITY = frozenset(_QUANTITY.split())  # a number beside these is a value
CHOICE = frozenset(_CHOICE.split())  # around these the order of words is the statement
OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in _OPPOSITES.split())
DENIAL = re.compile(
    r" (?:not|no|never|cannot|without|nor|(?:is|are|was|were|do|does|did|wo|ca|could|should|must)n't"
    r"|nicht|kein|keine|keinen|keinem|keiner|keines|nie|niemals|ohne) "
    r"|禁止|不要|不能|不可|[不没無无未勿别]|ません|ない|なし|않|없|못|금지"
)
