"""Units of numbers, English and Chinese, in one form each; and the times of a day. Data and one small reader."""

import re
from collections.abc import Iterator

_NAMES = {
    "ms": "ms millisecond milliseconds msec 毫秒",
    "s": "s sec secs second seconds 秒 秒钟",
    "min": "min mins minute minutes 分钟 分",
    "h": "h hr hrs hour hours 小时 个小时 钟头",
    "d": "day days 天",
    "week": "week weeks wk wks 周 星期 个星期 礼拜",
    "month": "month months 个月",
    "year": "year years yr yrs 年",
    "B": "byte bytes 字节",
    "kB": "kb kib kilobyte kilobytes",
    "MB": "mb mib megabyte megabytes 兆",
    "GB": "gb gib gigabyte gigabytes",
    "TB": "tb tib terabyte terabytes",
    "%": "% percent pct",
    "px": "px pixel pixels 像素",
}
UNITS = {name: unit for unit, names in _NAMES.items() for name in names.split()}
_ATTACHED = {"s", "h"}  # single letters: behind a hyphen they are none
_SPACED = sorted((name for name in UNITS if name.isascii() and name.isalpha() and name not in _ATTACHED), key=len)
_CHINESE = sorted((name for name in UNITS if not name.isascii()), key=len)
_NO_UNIT = {
    "分": "(?![支之类组发配片区批页享析布层])",
    "周": "(?![期围边年])",
    "天": "(?![花气])",
}  # 3分支: three branches
_WRITTEN = "|".join(name + _NO_UNIT.get(name, "") for name in reversed(_CHINESE))
UNIT = rf"(?i:[-\s]?(?:{'|'.join(reversed(_SPACED))})(?![A-Za-z0-9_])|\s?[sh](?![A-Za-z0-9_])|\s?%|\s?(?:{_WRITTEN}))"
MILLIS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "week": 604_800_000}  # of a unit of time
SCALES = {"k": 1_000, "千": 1_000, "万": 10_000, "百万": 1_000_000, "亿": 100_000_000}
SCALES |= {"thousand": 1_000, "m": 1_000_000, "million": 1_000_000, "billion": 1_000_000_000}

_CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])(?::(?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b"
    r"|(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上)?(?P<zhhour>2[0-3]|1\d|0?\d|[一二两三四五六七八九]|十[一二]?)\s?点"
    r"(?:钟|(?P<zhhalf>半)|(?P<zhminute>[0-5]?\d)分)?",
    re.IGNORECASE,
)
_HOURS = {character: hour for hour, character in enumerate("零一二三四五六七八九十")} | {
    "两": 2,
    "十一": 11,
    "十二": 12,
}
_LATE = frozenset(("中午", "下午", "傍晚", "晚上"))


def clocks(text: str) -> Iterator[str]:
    """The times of day that a text says by a half of the day, on the clock of 24 hours: `3pm` and 下午三点 are `15:00`.
    A Chinese hour without its half has both readings."""
    for match in _CLOCK.finditer(text):
        if match["half"]:
            hour = int(match["hour"]) % 12 + (12 if match["half"].lower() == "p" else 0)
            yield f"{hour:02}:{match['minute'] or '00'}"
            continue
        said = match["zhhour"]
        hour = int(said) if said.isdecimal() else _HOURS[said]
        minute = "30" if match["zhhalf"] else f"{int(match['zhminute'] or 0):02}"
        if match["part"] in _LATE and hour < 12:
            hour += 12
        yield f"{hour:02}:{minute}"
        if match["part"] is None and hour < 12:
            yield f"{hour + 12:02}:{minute}"
