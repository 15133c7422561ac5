"""Personal data with a check digit or a clear context: Chinese identity, passport and phone numbers, bank cards and
accounts, e-mail."""

import re
from collections.abc import Callable

from governance.screening.matching import Hit, Rule

_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECK = "10X98765432"
_PROVINCES = frozenset(
    (*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66), 71, 81, 82)
)
_PHONE_WORDS = re.compile(
    r"(?i)(?:手机|电话|联系|号码|微信|短信|致电|拨打|phone|mobile|tel\b|call\b|cell|whatsapp|sms|contact|\+86)[^\n]{0,16}$"
)
_CARD_WORDS = re.compile(r"(?i)(?:卡|账号|帐号|账户|card|account|iban|pan\b|visa|mastercard|unionpay)[^\n]{0,16}$")
_ACCOUNT_WORDS = re.compile(
    r"(?i)(?:(?:银行|对公|收款|打款|转账|汇款|开户|工资)[^\n]{0,12}(?:账号|帐号|账户)|bank(?:ing)? (?:account|acct)"
    r"(?: (?:number|no\.?))?|account (?:number|no\.?)|acct\.? ?(?:number|no\.?|#))[^\n\d]{0,12}$"
)
_NEGATIVE = re.compile(
    r"(?i)(?:example|sample|dummy|test|aws|azure|gcp|cloud|阿里云|腾讯云|order|trace|request|timestamp|订单|流水|时间戳|示例|测试)[^\n]{0,24}$"
)
_IDENTITY = re.compile(r"\d{6}(?:18|19|20|21)\d{9}[\dX]")
_MOBILE = re.compile(r"(?:\+86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}")
_PASSPORT_WORDS = re.compile(r"(?i)(?:护照|通行证|passport)[^\n]{0,16}$")
_IBAN_LENGTHS = {
    **{"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21},
    **{"CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18},
    **{"FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23},
    **{"IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27},
    **{"MD": 24, "ME": 22, "MK": 19, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25},
    **{"QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29},
    **{"VA": 22, "VG": 24, "XK": 20},
}
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


def _luhn(number: str) -> bool:
    digits = [int(digit) for digit in number if digit.isdigit()]
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(odd) + sum(sum(divmod(2 * digit, 10)) for digit in even)) % 10 == 0


def _bank_card(hit: Hit) -> bool:
    """Luhn, and grouped by fours or behind a word for a card."""
    if not _luhn(hit.value) or not _alone(hit):
        return False
    return not hit.value.isdigit() or _CARD_WORDS.search(hit.before(64)) is not None


def _american_card(hit: Hit) -> bool:
    """Fifteen digits in groups of four, six and five, or behind a word for a card."""
    return _luhn(hit.value) and _alone(hit) and (" " in hit.value or "-" in hit.value or _said(_CARD_WORDS, hit))


def _account(hit: Hit) -> bool:
    """A number behind words for a bank account: it has no check digit that all banks share."""
    return _alone(hit) and _said(_ACCOUNT_WORDS, hit) and len(set(hit.value)) > 2


def _said(words: re.Pattern[str], hit: Hit) -> bool:
    before = hit.before(96)
    return words.search(before) is not None and _NEGATIVE.search(before) is None


def _iban(hit: Hit) -> bool:
    """ISO 13616: the country's length, and 1 modulo 97."""
    plain = hit.value.replace(" ", "")
    if _IBAN_LENGTHS.get(plain[:2]) != len(plain) or not _alone(hit):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _sized(least: int, most: int) -> Callable[[bytes], bool]:
    """Whether so many digits are covered, and no letter behind them."""
    return lambda value: least <= sum(48 <= byte <= 57 for byte in value) <= most and value[-1] < 58


def _eighteen(value: bytes) -> bool:
    return len(value) == 18


def _like_a_mobile(value: bytes) -> bool:
    return value[0] == 0x2B or (len(value) in (11, 13) and value[0] == 0x31)


_NUMBER = (  # one run for every kind of number
    r"\+86[ -]?1[3-9]\d[ -]?\d{4}[ -]?\d{4}|1[3-9]\d[ -]\d{4}[ -]\d{4}|\d{4}(?:[ -]\d{4}){3}(?:[ -]\d{1,3})?"
    r"|\d{4}[ -]\d{6}[ -]\d{5}|\d{11,30}[Xx]?"
)

PERSONAL: tuple[Rule, ...] = (
    Rule(family="pii.cn-id", pattern=_NUMBER, check=_identity_number, glance=_eighteen, simple=True),
    Rule(family="pii.bank-card", pattern=_NUMBER, check=_bank_card, glance=_sized(16, 19), simple=True),
    Rule(family="pii.bank-card", pattern=_NUMBER, check=_american_card, glance=_sized(15, 15), simple=True),
    Rule(family="pii.cn-mobile", pattern=_NUMBER, check=_mobile, glance=_like_a_mobile, simple=True),
    Rule(family="pii.bank-account", pattern=_NUMBER, check=_account, glance=_sized(12, 30), simple=True),
    Rule(family="pii.iban", pattern=r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", check=_iban),
    Rule(
        family="pii.cn-passport",
        pattern=r"\b(?:E[A-Z]\d{7}|[DEGPS]\d{8}|[CHM]\d{8,10})\b",
        check=lambda hit: _PASSPORT_WORDS.search(hit.before(64)) is not None,
    ),
)

ADDRESSES: tuple[Rule, ...] = (
    Rule(
        family="pii.email",
        pattern=r"\b[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b",
        check=lambda hit: not hit.value.startswith("git@") and hit.after(1) != ":",
        severity="low",
    ),
)
