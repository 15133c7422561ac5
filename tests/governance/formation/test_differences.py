"""What makes two claims of two texts in like words."""

import pytest

from governance.formation.differences import names_apart, opposite, subject, terms, told_apart, values

APART = [
    ("Run migrations before the deploy", "Run migrations after the deploy"),
    ("migrate from npm to pnpm", "migrate from pnpm to npm"),
    ("Use pnpm, never npm", "Use npm, never pnpm"),
    ("Deploy first in the US region", "Deploy first in the EU region"),
    ("上线前必须跑测试", "上线后必须跑测试"),
    ("部署到测试环境", "部署到生产环境"),
    ("部署到 staging 环境", "部署到生产环境"),
    ("Only admins can deploy", "Admins can deploy"),
    ("如果失败就重试", "失败就重试"),
    ("Deploy on Fridays", "Deploy on Fridays after approval by the lead"),
    ("Use https for the mirror", "Use http for the mirror"),
    ("The call is sync", "The call is async"),
    ("Use tabs for indentation", "Use spaces for indentation"),
]
NOT_APART = [
    ("Use uv for Python installs", "Please always use uv for our Python installs"),
    ("Use uv for Python installs", "For Python installs use uv"),
    ("Releases go out on Thursdays", "Releases go out on Thursdays each week"),
    ("The staging bucket is shared", "The staging buckett is shared"),
    ("The API is frozen", "the api is frozen"),
    ("数据库每天备份", "数据库每天都要备份"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_a_word_in_the_place_of_another_a_condition_or_an_order_tells_them_apart(one: str, other: str) -> None:
    assert told_apart(one, other)
    assert told_apart(other, one)


@pytest.mark.parametrize(("one", "other"), NOT_APART)
def test_fillers_slips_and_another_order_that_says_nothing_do_not(one: str, other: str) -> None:
    assert not told_apart(one, other)
    assert not told_apart(other, one)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("on Thursday", "周四", True),
        ("on Thursday", "on Thu", True),
        ("on Thursday", "on Friday", False),
        ("in March", "in April", False),
        ("3月", "4月", False),
        ("plan B", "plan C", False),
        ("x > 1", "x < 1", False),
        ("30s", "30 seconds", True),
        ("We ship?", "We ship.", False),
        ("We ship", "We sat in the sun, wed", True),
    ],
)
def test_days_months_letters_and_signs_are_values(one: str, other: str, equal: bool) -> None:
    assert (values(one) == values(other)) is equal


def test_opposites_are_told_whatever_else_is_said() -> None:
    assert opposite("Turn the cache on", "Turn the cache off")
    assert opposite("之前部署", "之后部署")
    assert not opposite("on and off", "off")


def test_numbers_that_name_things_are_no_values_of_one_thing() -> None:
    assert names_apart("Node 1 is in Berlin", "Node 2 is in Berlin")
    assert names_apart("Read ADR 12", "Read ADR 13")
    assert not names_apart("The limit of 10 is low", "The limit of 20 is low")
    assert not names_apart("Limit is 10", "Limit is 20")
    assert not names_apart("Node 1 is up", "Node 1 is up")


def test_the_subject_is_what_is_left_without_values_and_denials() -> None:
    assert subject("Do not set maxRetries to 5 on Monday") == subject("set limit_2 to 6") == {"set"}
    assert subject("不要在周五部署") == subject("在周四部署")
    assert terms("数据库") == {"数据", "据库"}
