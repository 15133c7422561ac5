"""How texts look that a framework writes into a conversation, in English and Chinese: policy, not settings. Pure.

Only the beginning of a text decides, and only of a short one: people speak of heartbeats and of start-up scripts, too.
"""

import re

SHORT_ENOUGH = 800  # characters: what a framework says by itself is short; longer texts hold more than that
OPENING = 200

# One upper-case token and nothing else: NO_REPLY, HEARTBEAT_OK.
_TOKEN = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
SENTINEL = re.compile(rf"[\W_]*(?:{_TOKEN}|(?i:no[ _-]?reply|heartbeat[ _-]?ok|no[ _-]?response))[\W_]*")

_OCCASION = (
    r"heart[- ]?beat|keep[- ]?alive|pulse|boot(?:[- ]?up|strap)?|start(?:ing)?[- ]?up|session[- ]start(?:up)?"
    r"|wake[- ]?up|init(?:iali[sz]ation)?|warm[- ]?up|cron|scheduled|daily reset|liveness"
)
_SORT = (
    r"routine|sequence|prompt|check|checks|poll|ping|tick|probe|message|instructions?|procedure|task|job|reminder|event"
)
_ORDER = (
    r"open|read|look|check|load|run|execute|follow|do|perform|see|reply|respond|answer|report|if|ensure|verify|consult"
    r"|review|scan|begin|proceed|continue|greet|say|process|handle|poll|start|wake|please"
)
_FILES = r"HEARTBEAT|PULSE|BOOT|BOOTSTRAP|START|STARTUP|WAKE|WAKEUP|SESSION|INIT|SOUL|IDENTITY|TICK|CRON"
_SENTINEL_ORDER = (
    rf"(?i:if (?:there is |there's )?(?:nothing|no\b|none|all is)|otherwise|when (?:done|finished))[^\n]{{0,120}}?"
    rf"(?i:reply|respond|answer|say)[^\n]{{0,40}}?(?-i:{_TOKEN})"
)
_CHINESE = "心跳|启动|开机|唤醒|初始化|定时|保活"
_CHINESE_SORT = "流程|例程|检查|检测|任务|提示|提醒|指令|消息"
_CHINESE_ORDER = "打开|读取|阅读|查看|检查|执行|运行|按照|如果|若|请|回复|遵循|遵守|加载|开始|继续"
# "Startup: check that the database is up" is what a person writes, where it names no file of a framework.
_PLAIN = r"(?:start(?:ing)?[- ]?up|init(?:iali[sz]ation)?|warm[- ]?up|cron|scheduled|启动|初始化|定时)"
_NO_PLAIN = rf"(?!{_PLAIN}\s{{0,4}}(?:[:：\u2014-]|\Z)(?![^\n]{{0,200}}(?-i:\b[A-Z]{{3,20}}\.md\b)))"
_LABEL = rf"{_NO_PLAIN}\W{{0,4}}(?:{_OCCASION})(?:[ -](?:{_SORT}))?"
NOISE: tuple[re.Pattern[str], ...] = (
    # "Boot routine: open START.md …", "[heartbeat] check …"
    re.compile(
        rf"{_LABEL}[\])*_`]{{0,4}}\s{{0,4}}(?:[:：\u2014-]\s{{0,4}}|\]\s{{0,4}}|\.\s{{0,4}})(?:{_ORDER})\b",
        re.IGNORECASE,
    ),
    re.compile(rf"{_LABEL}\W{{0,4}}\Z", re.IGNORECASE),  # "Heartbeat poll"
    re.compile(rf"\[(?:{_OCCASION}):[^\]\n]{{1,80}}\]", re.IGNORECASE),  # "[cron:7f3a daily report] …"
    # "Read HEARTBEAT.md if it exists …"
    re.compile(
        r"(?i:please )?(?i:open|read|look at|check|load|run|execute|follow|consult)\s{1,4}"
        rf"[`'\"]?(?:\w{{1,40}}/){{0,4}}(?:{_FILES})\.md\b"
    ),
    re.compile(_SENTINEL_ORDER),
    re.compile(
        r"(?:this is )?an? (?:automated|automatic) (?:check|ping|message|heartbeat|reminder)\b(?! \w+s\b)",
        re.IGNORECASE,
    ),
    re.compile(r"a new session (?:was|has been|is being) started\b", re.IGNORECASE),
    re.compile(r"(?:execute|run|begin|perform) (?:your |the )?session start(?:up| sequence)", re.IGNORECASE),
    re.compile(r"This session is being continued from a previous conversation"),
    re.compile(r"\[Request interrupted by user"),
    re.compile(
        rf"{_NO_PLAIN}\W{{0,4}}(?:{_CHINESE})(?:{_CHINESE_SORT})?(?:[\]】]|\s{{0,4}}[:：])\s{{0,4}}(?:{_CHINESE_ORDER})"
    ),
    re.compile(rf"{_NO_PLAIN}\W{{0,4}}(?:{_CHINESE})(?:{_CHINESE_SORT})?\W{{0,4}}\Z"),
)

# Blocks that a harness or another memory puts beside the user's words.
_ABOUT = "memor(?:y|ies)|reminder|recall(?:ed)?|injected|hook|notification|system|environment|ide|context|knowledge"
BLOCK = re.compile(
    rf"^[ \t]*<((?:[a-z0-9]+[-_]){{0,4}}(?:{_ABOUT})(?:[-_][a-z0-9]+){{0,4}})(?:\s[^<>\n]{{0,400}})?>", re.MULTILINE
)

# Lines and prefixes that say who, where and when: the message itself begins behind them.
METADATA: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"^[A-Z][\w ]{2,40}\((?:untrusted|trusted|system)[^)\n]{0,40}\):?[ \t]*\n"
        r"```(?:json)?\n(?:(?!```).*\n){0,80}?```[ \t]*\n?",
        re.MULTILINE,
    ),
    re.compile(
        r"\[(?:message[_ -]?id|msg[_ -]?id|chat[_ -]?id|thread[_ -]?id|channel[_ -]?id|session[_ -]?id|reply[_ -]?to)"
        r"\b[^\]\n]{0,200}\][ \t]*",
        re.IGNORECASE,
    ),
    re.compile(
        r"\A\s{0,8}\[(?:[A-Z][a-z]{2},? )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,24}\][ \t]*",
    ),
)

# What stands for a picture, a sound or a file, and what such a thing looks like when it is written out.
MEDIA: tuple[re.Pattern[str], ...] = (
    re.compile(r"data:[\w.+-]{1,60}/[\w.+-]{1,80}(?:;[\w=.+-]{1,60}){0,4};base64,[A-Za-z0-9+/=_-]*"),
    re.compile(r"!?\[[^\]\n]{0,200}\]\((?:data:[^)\s]{0,200})?\)"),
    re.compile(
        r"\[(?:Image|Audio|Video|File|Media|Attachment)s?(?: #?\d+| attached| omitted|:)[^\]\n]{0,300}\] ?",
        re.IGNORECASE,
    ),
)
BLOB = re.compile(r"(?<![A-Za-z0-9+/_.-])[A-Za-z0-9+/]{160,}={0,2}")  # perhaps: a long path looks like one, too
SLASHES = 12  # a run that has more than one in so many characters is a path
