"""What is exact in a text stands in its quotes, or the text is refused; another spelling of it is no reason to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.marks import marks
from governance.formation.quotes import find
from governance.formation.support import unsupported, whole

SUPPORTED = [  # (text, quote)
    ("Retry limit 3", "retry limit is 3"),
    ("Retry limit is 3", "three retries"),
    ("重试 3 次", "重试三次"),
    ("The retry limit is 25", "重试二十五次"),
    ("CI uses Postgres 16", "Use Postgres 16 in CI"),
    ("Uses PostgreSQL 16", "postgres 16"),
    ("Clusters run k8s", "we run kubernetes"),
    ("`maxRetries` is 5", "max retries 5"),
    ("`max_retries` is 5", "max-retries is 5"),
    ("Timeout is 30 seconds", "timeout 30"),
    ("Timeout is 30", "timeout 30s"),
    ("Needs Python 3.11", "python 3.11.4 please"),
    ("Needs Python 3.11", "python3.11"),
    ("Settings are in config.toml", "see host/config.toml"),
    ("Run `npm run test`", "run npm test"),
    ("Deploys are at 15:00", "deploy 3pm"),
    ("15:00 发布", "下午三点发布"),
    ("Go live on November 20", "2026-11-20"),
    ("The freeze is on 2026-11-02", "2026年11月2日冻结"),
    ("10000 rows", "10k rows"),
    ("1,500 rows", "1500 rows"),
    ("Files are UTF-8", "use utf8"),
    ("The file is src/a/b.py", "src\\a\\b.py"),
    ("Port 5432 is Postgres", "postgres:5432"),
    ("生产数据库是 PostgreSQL 14", "线上用 pg14"),
    ("Timeout is 30 minutes", "半小时超时"),
    ("Timeout is 90 minutes", "1.5 hours"),
    ("Waits 60 seconds", "wait one minute"),
    ("It is 1.5 times faster", "1.5x faster"),
    ("E2E tests are in CI", "end-to-end tests"),
    ("README.md is the entry", "the readme"),
    ("It costs $20 per month", "$20/month"),
    ("The API is at localhost:3000", "http://localhost:3000/api"),
    ("Supports Python 3.9 to 3.12", "py3.9–3.12"),
    ("Release 2.3.0-rc1", "v2.3.0-rc1"),
    ("Retry limit is three", "retry limit is 3"),
    ("The third attempt fails", "the 3rd attempt fails"),
    ("The 3rd attempt fails", "third attempt fails"),
    ("Two services use Redis", "both services use redis"),
    ("Uses SQLite 3", "use sqlite3"),
    ("Uses RabbitMQ and Express.js", "rabbit and express"),
    ("The birthday is May 5", "birthday is 5/5"),
    ("Released on 2026-03-11", "released 3/11/2026"),
    ("Released on 3 November 2026", "released 3/11/2026"),
    ("There are two environments, dev and prod", "dev and prod"),
    ("两个服务都用 Redis", "both services use redis"),
    ("Third-party cookies and two-factor login are off, one by one", "whatever"),
    ("十分重要，万一失败，第三方库，统一", "whatever"),
    ("这是一个十分钟的任务", "任务要 10 分钟"),
    ("七月发布", "July release"),
    ("覆盖率要百分之八十", "覆盖率 80%"),
    ("Node 20 is required", "node v20.11.1"),
    ("Uses React 18", "react@18.2.0"),
    ("1 million rows", "1000000 rows"),
    ("2000000 rows", "2M rows"),
    ("2 MB", "2M"),
    ("Deploys at 3 p.m.", "deploy at 15:00"),
    ("每天 15 点发布", "每天下午三点发布"),
    ("5x faster", "five times faster"),
    ("Pages 1..10", "pages 1 to 10"),
    ("Releases go out on Thursday", "每周四发布"),
    ("Released Monday, 2026-11-02", "released on 2026-11-02"),
    ("End-to-end tests and/or CI/CD need the API", "whatever"),
]
UNSUPPORTED = [  # (text, quote, what is missing)
    ("retry limit 5", "retry limit 3", "5"),
    ("重试上限是 5 次", "重试上限是三次", "5"),
    ("Run the `deploy` script", "run the script", "deploy"),
    ("Use maxRetries", "use max_retries", "maxretries"),
    ("Use 3.11", "use 3.1", "3.11"),
    ("The limit is 0", "the limit is 0.5", "0"),
    ("30 s", "30 ms", "30"),
    ("The freeze was on 2026-11-02", "we froze it", "2026-11-02"),
    ("See src/b.py", "see src/a.py", "src/b.py"),
    ("Use --force", "use --no-force", "--force"),
    ("Use node20", "use node", "node20"),
    ("Use GitLab", "use GitHub", "gitlab"),
    ("Port 80", "port 8080", "80"),
    ("It fails with E0277", "it fails with an error", "e0277"),
    ("The limit is -1", "the limit is 1", "-1"),
    ("At 14:00", "at 4", "14:00"),
    ("Version 2.0", "version 2.1", "2.0"),
    ("Waits 60 minutes", "wait one minute", "60"),
    ("It is 1 time faster", "1.5x faster", "1"),
    ("Uses PostgreSQL", "uses MySQL", "postgresql"),
    ("See server.js", "see server.ts", "server.js"),
    ("See schema.sql", "see the schema", "schema.sql"),
    ("Retry limit is four", "retry limit is 3", "4"),
    ("重试四次", "重试三次", "4"),
    ("Runs three times a day", "runs twice a day", "3"),
    ("Waits two hours", "waits 1h", "2"),
    ("Users have up to six keys", "max 5 keys", "6"),
    ("The sixth retry fails", "5th retry fails", "6"),
    ("3M rows", "2 million rows", "3000000"),
    ("Deploys at 4pm", "deploy at 15:00", "16:00"),
    ("Python 2", "python 3.12.1", "2"),
    ("Write to ops@example.com", "write to dev@example.com", "ops@example.com"),
    ("Releases go out on Tuesday", "releases go out on Thursdays", "weekday 2"),
    ("Released on 2026-03-12", "released 3/11/2026", "2026-03-12"),
    ("The freeze starts in May", "the freeze starts in march", "month 5"),
]


@pytest.mark.parametrize(("text", "quote"), SUPPORTED)
def test_another_spelling_of_the_same_is_supported(text: str, quote: str) -> None:
    assert unsupported(text, [quote]) == ()


@pytest.mark.parametrize(("text", "quote", "missing"), UNSUPPORTED)
def test_what_no_quote_says_is_named(text: str, quote: str, missing: str) -> None:
    assert missing in unsupported(text, [quote])


def test_any_of_the_quotes_supports_and_each_lack_is_named_once() -> None:
    assert unsupported("3 of 4 in a_b", ["it is 3", "a_b has 4"]) == ()
    assert unsupported("5, 5 and 6", ["7"]) == ("5", "6")


@pytest.mark.parametrize("text", ["2026-11-02", "November 2, 2026", "Nov 2", "2026-11", "in 2026", "2026年11月2日"])
def test_a_date_that_resolves_a_relative_one_is_supported_however_it_is_written(text: str) -> None:
    assert unsupported(text, ["we froze it yesterday"], {"2026-11-02"}) == ()


@pytest.mark.parametrize("text", ["2026-11-01", "2026-11-02 09:00", "Nov 3", "2025", "2026-W45"])
def test_another_date_than_that_is_not(text: str) -> None:
    assert unsupported(text, ["we froze it yesterday"], {"2026-11-02", "2026-W44"})


@pytest.mark.parametrize(
    ("message", "quote", "said"),
    [
        ("limit 30 holds", "limit 3", "limit "),
        ("limit 1.5 holds", "limit 1", "limit "),
        ("set 1,000 now", "000 now", " now"),
        ("x 130 rows", "30 rows", " rows"),
        ("use retryBudget", "use retry", "use "),
        ("每天3次", "3次", "3次"),
        ("on v1.2.3.", "v1.2.3", "v1.2.3"),
        ("at 3, 4", "at 3", "at 3"),
    ],
)
def test_a_quote_says_nothing_of_what_its_ends_cut(message: str, quote: str, said: str) -> None:
    span = find(quote, message)
    assert span is not None
    assert whole(message, span) == said


WORDS = "5 30s v1.2 a_b maxRetries `x` src/a.py 2026-11-02 tabs 三 --all use é ²"
texts = st.lists(st.sampled_from(WORDS.split()), max_size=10).map(" ".join)


@given(texts, texts)
def test_a_quote_supports_itself_and_more_quotes_never_support_less(text: str, other: str) -> None:
    assert unsupported(text, [text]) == ()
    assert set(unsupported(text, [other])) >= set(unsupported(text, [other, text[: len(text) // 2]]))


@given(st.text(max_size=120))
def test_any_text_supports_itself(text: str) -> None:
    missing = unsupported(text, [text])
    assert not missing, (missing, list(marks(text)))


@pytest.mark.parametrize("quote", ["x " * 32_768, "a" * 65_536, "1 " * 32_768])
def test_many_marks_on_a_long_quote_are_judged(quote: str) -> None:
    text = " ".join(f"aB{place}" for place in range(300))
    assert len(unsupported(text, [quote])) == 300
