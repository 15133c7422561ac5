"""Personal data with a check digit or a clear context: Chinese identity, phone and bank card numbers, e-mail."""

import re

from governance.screening.matching import Hit, Rule

_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECK = "10X98765432"
_PROVINCES = frozenset(
    (*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66), 71, 81, 82)
)
_PHONE_WORDS = re.compile(
    r"(?i)(?:手机|电话|联系|号码|微信|短信|phone|mobile|tel\b|call\b|cell|whatsapp|\+86)[^\n]{0,16}$"
)
_CARD_WORDS = re.compile(r"(?i)(?:卡|账号|帐号|card|account|iban|pan\b)[^\n]{0,16}$")
_IDENTITY = re.compile(r"\d{6}(?:18|19|20|21)\d{9}[\dX]")
_MOBILE = re.compile(r"(?:\+86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}")
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _alone(hit: Hit) -> bool:
    """No digit, letter or point glued to either side: the number is whole."""
    left, right = hit.before(4)[-1:], hit.after(4)
    glued = left != "" and left.isascii() and (left.isalnum() or left in "._-/")
    return not glued and not re.match(r"[0-9A-Za-z_]|[.-]\d", right)


def _identity_number(hit: Hit) -> bool:
    """GB 11643: a province, a date that exists, and the check digit."""
    number = hit.value.upper()
    if not _IDENTITY.fullmatch(number) or int(number[:2]) not in _PROVINCES:
        return False
    month, day = int(number[10:12]), int(number[12:14])
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1]:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], _WEIGHTS, strict=True))
    return _CHECK[total % 11] == number[17] and _alone(hit)


def _mobile(hit: Hit) -> bool:
    """Grouped, behind +86, or behind a word for a phone: eleven bare digits may be anything."""
    if not _MOBILE.fullmatch(hit.value) or not _alone(hit):
        return False
    return not hit.value.isdigit() or _PHONE_WORDS.search(hit.before(64)) is not None


def _bank_card(hit: Hit) -> bool:
    """Luhn, and grouped by fours or behind a word for a card."""
    digits = [int(digit) for digit in hit.value if digit.isdigit()]
    odd, even = digits[-1::-2], digits[-2::-2]
    luhn = (sum(odd) + sum(sum(divmod(2 * digit, 10)) for digit in even)) % 10 == 0
    if not 16 <= len(digits) <= 19 or hit.value[-1] in "Xx" or not luhn or not _alone(hit):
        return False
    return not hit.value.isdigit() or _CARD_WORDS.search(hit.before(64)) is not None


_NUMBER = (  # one run for every kind of number
    r"\+86[ -]?1[3-9]\d[ -]?\d{4}[ -]?\d{4}|1[3-9]\d[ -]\d{4}[ -]\d{4}|\d{4}(?:[ -]\d{4}){3}(?:[ -]\d{1,3})?"
    r"|\d{11,19}[Xx]?"
)

PERSONAL: tuple[Rule, ...] = (
    Rule(family="pii.cn-id", pattern=_NUMBER, check=_identity_number),
    Rule(family="pii.bank-card", pattern=_NUMBER, check=_bank_card),
    Rule(family="pii.cn-mobile", pattern=_NUMBER, check=_mobile),
)

ADDRESSES: tuple[Rule, ...] = (
    Rule(
        family="pii.email",
        pattern=r"\b[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b",
        check=lambda hit: not hit.value.startswith("git@") and hit.after(1) != ":",
        severity="low",
    ),
)
