"""The words that name a day by the day on which they are said, English and Chinese. Data.

One alternative a kind; the groups of a kind carry its name, and `dates` reads them. Chinese is written in simplified
characters. A kind in `DEICTIC` means nothing on another day; the others may (`Monday`, `in 30 days`, `the 15th`).
A blank stands for any white space.
"""

import re

from governance.formation.numerals import ENGLISH
from governance.formation.written_dates import MONTH

_NUMBER = rf"(?:\d{{1,4}}|{ENGLISH}|(?:an? )?couple(?: of)?|an?)"
# 1991年前 is before that year, and 十亿年前 is no day.
_NUMBER_ZH = r"(?:(?!(?:1[5-9]|2[01])\d\d\s?年)\d{1,4}|(?<![万亿千])[一二两三四五六七八九十百]{1,5})"
_WEEKDAY = (
    "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    "|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun|MON|TUE|WED|THU|FRI|SAT|SUN))(?![a-z])"
)
_WEEK_ZH = "(?:周|星期|礼拜)"
_SIDE = "(?:last|next|this(?: (?:coming|past))?|coming|past|previous)"
_UNIT = "(?:minute|hour|day|weekend|week|fortnight|month|quarter|year)s?"
_UNIT_ZH = "(?:分钟|个?小时|天|日|周|个?星期|个?礼拜|个月|个?季度|年)"
_PART = "(?:morning|afternoon|evening)"

# (kind, pattern): where two begin at one place, the first that fits is read.
KINDS = (
    ("before_last", r"\b(?:the )?day before yesterday\b|(?<![大之以])前天(?!天)|(?<![之以])前晚"),
    ("before_that", "大前天"),
    ("after_next", r"\b(?:the )?day after tomorrow\b|(?<![大之以])后天(?![气性形])"),
    ("after_that", "大后天"),
    ("night", r"\blast night\b|昨晚|昨夜"),
    ("yesterday", r"\b(?:yesterday|gestern|ayer)\b|어제|昨天|(?<!前)昨日(?![志程期])"),
    (
        "today",
        rf"\btoday\b|\btonight\b|\bthis {_PART}\b|今天|今[早晨晚夜]|(?<![如当至迄])今日(?![志程期本头])|오늘|\bEOD\b",
    ),
    (
        "tomorrow",
        r"\btomorrow\b|내일|(?<![说声证表申])明天(?!皇)|(?<![说声证表申])明日(?![志程期本])|明[早晚晨](?![期安])",
    ),
    (
        "of_week",
        rf"\b(?P<of_week_day>{_WEEKDAY}) (?:of )?(?P<of_week_side>last|next|this) week\b"
        rf"|(?P<of_week_zh>上上|下下|[上下这本])(?:一)?个?{_WEEK_ZH}(?:的?{_WEEK_ZH})?(?P<of_week_zhday>[一二三四五六日天])(?![些点种])",
    ),
    ("beyond_day", rf"\b(?P<beyond_day_day>{_WEEKDAY}) after next\b"),
    (
        "beyond",
        r"\b(?P<beyond_unit>week|month|quarter|year) (?P<beyond_side>after next|before last)\b",
    ),
    ("weekday", rf"\b(?P<weekday_side>{_SIDE}) (?P<weekday_day>{_WEEKDAY})"),
    (
        "weekend",
        r"\b(?P<weekend_side>last|next|this(?: (?:coming|past))?) weekend\b"
        r"|(?P<weekend_zh>上上|下下|[上下这本])(?:一)?个?周末",
    ),
    ("some_weekend", r"\b(?:over|at|on|during) the weekend\b|(?<![每双单])周末(?![愉快])"),
    ("day_end", r"\bend of (?:the )?day\b"),
    (
        "edge",
        r"\b(?P<edge_at>end|beginning|start|first day|last day|first) of (?:(?P<edge_side>last|next|this|the) )?"
        r"(?P<edge_unit>week|month|quarter|year)\b|\b(?P<edge_named>month|quarter|year)[ -]end\b"
        r"|\bEO(?P<edge_short>[WMQY])\b"
        r"|(?:(?P<edge_zh>上上|下下|[上下这本])(?:一)?个?|(?<![\d〇一二三四五六七八九十第赛]))(?P<edge_zhunit>月|年|季度|季)(?P<edge_zhat>[底末初])",
    ),
    (
        "month_day",
        r"(?P<month_day_zh>上上|下下|[上下这本])(?:一)?个?月(?P<month_day_zhday>[12]?\d|3[01])[日号]",
    ),
    (
        "unit",
        r"\b(?P<unit_side>last|next|this) (?P<unit_name>week|month|quarter|year)\b"
        rf"|(?P<unit_zh>上上|下下|(?<!以)[上下]|(?<![成基版文资样课剧副标日])本|这)(?:一)?个?"
        rf"(?P<unit_zhname>{_WEEK_ZH}(?![期边围转长折刊一二三四五六日天])|月(?![份度光])|季度)",
    ),
    (
        "season",
        r"\b(?P<season_side>last|next|this) (?:spring|summer|autumn|fall|winter)\b",
    ),
    ("year_edge", r"(?P<year_edge_zh>(?<!过)去|(?<![当如])今|(?<![说声证表申])明)年年?(?P<year_edge_at>[底末初])"),
    (
        "month_side",
        rf"\b(?P<month_side_side>last|next) (?P<month_side_name>{MONTH})(?![a-z])(?!\s?\d)",
    ),
    (
        "half_ago",
        r"\bhalf an? (?P<half_ago_unit>hour|day|month|year) ago\b"
        r"|(?<![\d个一二两三四五六七八九十多大])半个?(?P<half_ago_zh>小时|天|月|年)(?:多)?[之以]?前(?![端后台缀置提])",
    ),
    (
        "half_hence",
        r"\bin half an? (?P<half_hence_unit>hour|day|month|year)\b"
        r"|(?<![\d个一二两三四五六七八九十多大])半个?(?P<half_hence_zh>小时|天|月|年)[之以]?后(?![端台缀续面来])",
    ),
    (
        "year",
        r"(?P<year_zh>(?<!过)去|(?<![当如])今(?!年轻)|(?<![说声证表申])明|(?<![之以目当前大])前|大前|(?<![之以前])后)年"
        r"(?:(?P<year_month>[1-9]|1[0-2])月(?:(?P<year_day>[12]?\d|3[01])[日号])?)?",
    ),
    (
        "ago",
        rf"\b(?P<ago_n>{_NUMBER}) (?P<ago_unit>{_UNIT}) (?:ago|back)\b"
        rf"|(?P<ago_zhn>{_NUMBER_ZH})\s?(?P<ago_zhunit>{_UNIT_ZH})[之以]?前(?![端后台缀置提])",
    ),
    ("hence", rf"\b(?P<hence_n>{_NUMBER}) (?P<hence_unit>{_UNIT}) (?:from (?:now|today)|hence)\b"),
    (
        "within",
        rf"\b(?:in|within) (?P<within_n>{_NUMBER}) (?P<within_unit>{_UNIT})\b"
        rf"|(?P<within_zhn>{_NUMBER_ZH})\s?(?P<within_zhunit>{_UNIT_ZH})[之以]?后(?![端台缀续面来])",
    ),
    (
        "some",
        rf"\b(?:a few|several) {_UNIT} ago\b|\bthe other (?:day|week|night)\b"
        rf"|几{_UNIT_ZH}[之以]?前(?![端后台缀置提])",
    ),
    (
        "bare",
        rf"(?<!every\s)(?<!each\s)\b(?P<bare_day>{_WEEKDAY})(?!s\b)"
        rf"|(?<![每逐上下这本个单双])(?:周|星期|礼拜)(?P<bare_zh>[一二三四五六日天])(?![些个点种])",
    ),
    ("now", r"\b(?:now|currently|at (?:the|this) moment)\b|现在|目前|当前|刚刚|刚才"),
    ("quarter", r"\bQ(?P<quarter_n>[1-4])\b(?!\s?\d{4})|第?(?P<quarter_zh>[一二三四])季度"),
    (
        "month",
        rf"\b(?:in|since|by|until|from|of|for|before|after) (?P<month_name>{MONTH})(?![a-z])(?!\s?\d)"
        r"|(?<![\d年])(?P<month_zh>1[0-2]|[1-9])月(?!\s?\d)(?![份前])",
    ),
    (
        "monthday",
        r"\bthe (?P<monthday_n>[12]?\d|3[01])(?:st|nd|rd|th)\b"
        r"|(?<![月\d.年])(?P<monthday_zh>[12]?\d|3[01])号(?![线楼机房院店库桌位码])",
    ),
)
_DEICTIC = (
    "before_last before_that after_next after_that night yesterday today tomorrow of_week weekday weekend unit season"
    " year month_day ago hence some beyond beyond_day year_edge month_side half_ago"
)
DEICTIC = frozenset(_DEICTIC.split())
_EVERY = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in KINDS).replace(" ", r"\s+")
# Nothing begins in the middle of a word: most places are there.
DATE_WORDS = re.compile(rf"(?:(?<![A-Za-z0-9_])(?=[A-Za-z0-9])|(?=[^\x00-\u2fff]))(?:{_EVERY})", re.IGNORECASE)
