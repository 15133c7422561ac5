"""Personal data: check digits, dates and surroundings."""

import pytest

from governance.screening.matching import Matcher
from governance.screening.personal import ADDRESSES, PERSONAL

MATCHER = Matcher(PERSONAL + ADDRESSES)


def check(text: str, families: list[str]) -> None:
    assert [hit.rule.family.removeprefix("pii.") for hit in MATCHER.find(text.encode())] == families


@pytest.mark.parametrize(
    ("text", "families"),
    [
        ("身份证号：" + "110101" + "19000101" + "0014", ["cn-id"]),
        ("110101" + "19000101" + "0015", []),  # the check digit
        ("110101" + "19001301" + "0014", []),  # a month that does not exist
        ("110101" + "19000230" + "0014", []),  # a day that does not exist
        ("180101" + "19000101" + "0014", []),  # a province that does not exist
        ("order " + "110101" + "19000101" + "00145", []),  # part of a longer number
        ("联系人手机 " + "138" + "00138000，通知", ["cn-mobile"]),
        ("+86 " + "138-0013-8000", ["cn-mobile"]),
        ("offset=" + "13800138000", []),
        ("loss=0." + "13912345678", []),
        ("银行卡 " + "622202" + "0000000000125", ["bank-card"]),
        ("6222 0200 0000 " + "0000 125", ["bank-card"]),
        ("银行卡 " + "622202" + "0000000000126", []),  # Luhn
        ("snowflake id " + "622202" + "0000000000125", []),
        ("Owner: li.si@corp.example", ["email"]),
        ("git@github.example:team/repo", []),
    ],
)
def test_personal_data_is_told_from_numbers(text: str, families: list[str]) -> None:
    check(text, families)


def test_an_address_is_only_worth_a_reviewers_look() -> None:
    assert {rule.severity for rule in ADDRESSES} == {"low"}
    assert {rule.severity for rule in PERSONAL} == {"high"}


@pytest.mark.parametrize(
    ("text", "families"),
    [
        ("Pay to DE89 3704 0044 0532 0130 00.", ["iban"]),
        ("IBAN GB82WEST12345698765432", ["iban"]),
        ("IBAN GB82WEST12345698765433", []),
        ("对公账户：110060149018010012345", ["bank-account"]),
        ("收款账号：3100012345678902", ["bank-account"]),
        ("bank account number 000123456789", ["bank-account"]),
        ("AWS account number 123456789012", []),
        ("订单号 202611300001234567", []),
        ("护照 E12345678 已过期", ["cn-passport"]),
        ("part E12345678 is out of stock", []),
        ("3782 822463 10005", ["bank-card"]),
        ("3782 822463 10006", []),
    ],
)
def test_accounts_and_papers_are_told_from_numbers(text: str, families: list[str]) -> None:
    check(text, families)
