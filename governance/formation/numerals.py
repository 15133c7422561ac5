"""Numbers written as words, English and Chinese, as the numbers that they are. Pure, linear time.

`three`, `twenty-five`, `two hundred`, `third`, `三`, `二十五`, `两百`. 一 counts only before what is
counted: it is half of 统一 too.
"""

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNITS, _TENS = _SMALL.split(), _LARGE.split()
_VALUES = (
    {word: value for value, word in enumerate(_UNITS)}
    | {word: 10 * (place + 2) for place, word in enumerate(_TENS)}
    | {"a": 1, "an": 1, "single": 1, "couple": 2, "dozen": 12, "once": 1, "twice": 2, "thrice": 3}
)
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINALS = {"third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10}
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_STEPS = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS = {"万": 10_000, "亿": 100_000_000}

_PLAIN = "|".join([*_UNITS, *_TENS])
_COUNTED = "个次天周月年小分秒条项台位份倍行页种名点层级轮步台"
ENGLISH = (
    rf"(?:(?:{'|'.join(_TENS)})[\s-](?:{'|'.join(_UNITS[1:10])})|{_PLAIN})"
    r"(?:[\s-](?:hundred|thousand|million|billion))?"
)
CHINESE = "[零〇一二两三四五六七八九十百千万亿]{1,12}"
_HALF = re.compile(r"\bhalf\s(?:an\s)?hour\b|\bhalf-hour\b|半个?(?:小时|钟头)", re.IGNORECASE)
_WORDS = re.compile(
    rf"\b(?:(?:an?\s)?(?:dozen|couple)|once|twice|thrice|{ENGLISH}|an?(?=\s(?:second|minute|hour|day|week|month|year)\b))\b",
    re.IGNORECASE,
)
_LONE = rf"[一百千万亿](?![{_COUNTED}零〇一二两三四五六七八九十百千万亿])"
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
# What surely counts something: not the two of `two-factor`, not the ten of 十分重要, not the three of 第三方.
_SURE_WORDS = re.compile(
    rf"\b(?:twice|thrice|(?<!one[\s-])(?:{'|'.join(_ORDINALS)})(?!-|\sof\b|\spart)|{ENGLISH}"
    rf"(?!-(?:factor|way|party|phase|tier|fold|eyes|handed|sided)|’s|'s))\b",
    re.IGNORECASE,
)
_SURE_CHARACTERS = re.compile(
    rf"(?<![周期拜数万千百十零〇一二两三四五六七八九第])(?!十分(?!钟)|第?[百千万亿])(?:第(?!二天|三方))?{CHINESE}(?=[{_COUNTED}])(?!分之|月)"
)
_CHARACTERS = re.compile(rf"(?<![周期拜])(?!{_LONE}){CHINESE}")  # 周三 is a day


def value(word: str) -> int | None:
    """The number that a word or a numeral of either language stands for; None: none."""
    said = word.strip().lower()
    if said.isdecimal():
        return int(said) if len(said) <= 12 else None
    if said and all(character in _DIGITS or character in _STEPS or character in _MYRIADS for character in said):
        return _chinese(said)
    return _english(said)


def in_digits(text: str) -> str:
    """The text with the numbers that it writes in words written in digits: `3 retries`, `重试3次`, `30 minutes` for
    half an hour."""
    return _CHARACTERS.sub(_digits, _ORDINAL.sub(_digits, _WORDS.sub(_digits, _HALF.sub(_half, text))))


def surely_in_digits(text: str) -> str:
    """The text with only those numbers in digits that surely count something, from two on."""
    return _SURE_CHARACTERS.sub(_sure_digits, _SURE_WORDS.sub(_sure_digits, text))


def _digits(match: re.Match[str]) -> str:
    number = value(match[0])
    return match[0] if number is None else str(number)


def _sure_digits(match: re.Match[str]) -> str:
    ordinal = match[0].startswith("第")
    number = value(match[0][ordinal:])
    return match[0] if number is None or number < 2 else f"{'第' * ordinal}{number}"


def _half(match: re.Match[str]) -> str:
    return "30 minutes" if match[0].isascii() else "30分钟"


def _english(said: str) -> int | None:
    total = 0
    words = [word for word in re.split(r"[\s-]+", said) if word and word != "of"]
    if len(words) > 1 and words[0] in ("a", "an"):
        words = words[1:]
    if not words:
        return None
    for word in words:
        if word in _SCALES:
            total = max(total, 1) * _SCALES[word]
        elif word in _VALUES or word in _ORDINALS:
            total += _VALUES.get(word) or _ORDINALS.get(word, 0)
        else:
            return None
    return total


def _chinese(said: str) -> int:
    """`二〇二六` is read digit by digit, `两千零二十六` by its steps."""
    if len(said) > 1 and all(character in _DIGITS for character in said):
        return int("".join(str(_DIGITS[character]) for character in said))
    total = part = digit = 0
    for character in said:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _STEPS:
            part += max(digit, 1) * _STEPS[character]
            digit = 0
        else:
            total = (total + part + digit or 1) * _MYRIADS[character]
            part = digit = 0
    return total + part + digit
