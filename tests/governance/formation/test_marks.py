"""What is exact in a text has one form; plain words are no marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.marks import marks, marks_of, plain_form


def _forms(text: str) -> list[str]:
    return [f"{mark.form} {mark.detail}".strip() if mark.kind == "number" else mark.form for mark in marks(text)]


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("limit 5, 10,000, 10k, 1.5k and 3万", ["5", "10000", "10000", "1500", "30000"]),
        ("30s 30 seconds 30-second 30秒 30 ms", ["30 s", "30 s", "30 s", "30 s", "30 ms"]),
        ("v1.2.3 Python 3.11+ #123 $5 .5 3rd", ["1.2.3", "3.11", "123", "5", "0.5", "3"]),
        ("-1 means none, 3-5 retries, 1/2", ["-1", "3", "5", "1", "2"]),
        ("50% 5GB 100MB/s", ["50 %", "5 GB", "100 MB"]),
        ("10² ½ ３０", ["10", "2", "1", "2", "30"]),
        ("14:00 UTC, 9:30", ["14:00", "09:30"]),
        ("on 2026-11-02 and 2026年11月2日", ["2026-11-02", "2026-11-02"]),
        ("max_retries maxRetries HTTPServer GitHub", ["max_retries", "maxretries", "httpserver", "github"]),
        (
            "python3.11 utf-8 sha256 E0277 3f1c2b7 0x1F k8s",
            ["python3.11", "utf-8", "sha256", "e0277", "3f1c2b7", "0x1f", "k8s"],
        ),
        (
            "__init__ foo() C++ C# .env .NET $HOME a::b --no-verify -x",
            ["__init__", "foo", "c++", "c#", ".env", ".net", "home", "a::b", "--no-verify", "-x"],
        ),
        (
            "src/a/b.py /etc/hosts ~/x ./run.sh C:\\x\\y.txt origin/main",
            ["src/a/b.py", "/etc/hosts", "~/x", "run.sh", "c:/x/y.txt", "origin/main"],
        ),
        ("https://x.example/a/b?c=1.", ["https://x.example/a/b?c=1"]),
        ("用uv安装Python3.11，端口8080", ["python3.11", "8080"]),
        ("Node.js in config.toml", ["node.js", "config.toml"]),
        (
            "X-Tenant of ops@example.com in tests/ at 3pm, 1..10, 2 million",
            ["x-tenant", "ops@example.com", "tests", "15:00", "1", "10", "2000000"],
        ),
    ],
)
def test_what_is_exact_is_found_in_its_one_form(text: str, forms: list[str]) -> None:
    assert _forms(text) == forms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Use tabs and/or spaces, end-to-end, well-known, CI/CD, TCP/IP, km/h",
        "The APIs, IDs and PRs of the CI",
        "e.g. this, i.e. that, a.k.a. it, 9 a.m. x".replace("9 ", ""),
        "_important_ *bold* done.Next",
        "用空格缩进，三次",
        "… — ! ? ()",
    ],
)
def test_plain_words_are_no_marks(text: str) -> None:
    assert _forms(text) == []


def test_a_name_knows_how_it_is_spoken() -> None:
    assert [mark.detail for mark in marks("maxRetries HTTPServer2 utf-8")] == ["max retries", "http server 2", "utf 8"]


def test_marks_are_counted() -> None:
    assert sorted(marks_of("5 of 5 in a_b").values()) == [1, 2]


def test_a_raised_digit_is_no_digit_of_the_number_before_it() -> None:
    assert plain_form("10²") != plain_form("102")


@given(st.text(max_size=200))
def test_every_text_has_marks_and_the_same_ones_each_time(text: str) -> None:
    assert list(marks(text)) == list(marks(text))


@given(
    st.integers(0, 10**9),
    st.sampled_from(["", " ", "(", "在", "#", "="]),
    st.sampled_from(["", ".", ",", "。", ")", " x"]),
)
def test_a_number_is_found_wherever_it_stands(number: int, before: str, after: str) -> None:
    assert str(number) in [mark.form for mark in marks(f"{before}{number}{after}") if mark.kind == "number"]


PIECES = [
    "-",
    "1,",
    "111,",
    "1.",
    "/",
    "a/",
    "@",
    "a",
    "1",
    "_",
    "a-",
    ".",
    "../",
    "%",
    "+",
    "a\\",
    "https://",
    "aB",
    "1 ",
    "12:",
    "()",
    "::",
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_text_of_64_kib_is_read(piece: str) -> None:
    text = piece * (65_536 // len(piece)) + "x"
    assert sum(1 for _ in marks(text)) <= len(text)
