"""When a text cites a record, a call reuses it, and a user's words correct it: what does not count above all."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from governance.evidence_rules import (
    QUOTE,
    Hits,
    Quotable,
    Shown,
    acts_on_its_own,
    advice,
    corrected,
    digests_in,
    reuses,
    telling_command,
    telling_file,
    telling_name,
    terms_of,
)
from governance.evidence_words import complaint
from host.gate_words import corrects
from tests.support.builders import a_memory_id

DATA = json.loads((Path(__file__).parents[1] / "data" / "evidence" / "corrections.json").read_text("utf-8"))
TEXT = "Start the fixture with docker compose up -d pg-fixture before the integration tests; it needs a minute."


def cases(kind: str) -> Iterator[tuple[int, str, str]]:
    for number, batch in enumerate(DATA):
        for case in batch[kind]:
            yield (number, case[0], case[1]) if kind == "corrects" else (number, "", case)


def a_record(memory_id: str, text: str, latest: bool = True) -> Shown:
    return Shown(memory_id=memory_id, text=text, terms=terms_of(text), latest=latest)


def judged(batch: int, text: str, only: str = "") -> set[str]:
    """Which records of a batch a text takes back, all of them shown just now, or one of them."""
    records = DATA[batch]["records"]
    said = complaint(text)
    if said is None or not (said.ids or said.pointed or corrects(text)):
        return set()
    names = {a_memory_id(number): name for number, name in enumerate(records, 1)}
    shown = [a_record(one, records[name]) for one, name in names.items() if only in ("", name)]
    return {names[memory_id] for memory_id in corrected(said, shown)}


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize(("batch", "name", "text"), [*cases("corrects")])
def test_a_user_corrects_the_record_that_he_speaks_of_and_no_other(batch: int, name: str, text: str) -> None:
    assert judged(batch, text, name) == {name}
    assert judged(batch, text) <= {name}


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize(("batch", "name", "text"), [*cases("does_not")])
def test_an_order_an_agreement_another_matter_or_a_doubt_corrects_no_record(batch: int, name: str, text: str) -> None:
    alone = [judged(batch, text, one) for one in DATA[batch]["records"]]
    assert not judged(batch, text) | set[str]().union(*alone)


def test_a_note_that_is_called_wrong_is_the_one_that_was_just_shown() -> None:
    said = complaint("That note is outdated.")
    assert said is not None
    one, two = (a_record(a_memory_id(n), f"Text {n} of the fixture.") for n in (1, 2))
    earlier = a_record(a_memory_id(3), "Earlier.", latest=False)
    assert corrected(said, [one, earlier]) == (a_memory_id(1),)
    assert corrected(said, [one, two]) == ()  # which of the two?
    assert corrected(said, [earlier]) == ()


# ------------------------------------------------------------------------------------------------------------- cite


@pytest.mark.promise("evidence-rules")
def test_forty_characters_in_a_row_are_a_quotation_and_one_less_is_none() -> None:
    quotable = Quotable({"one": TEXT, "two": "Something else altogether, of the same length as the other one is."})
    for start in (0, 7, 19, 20, 33, len(TEXT) - QUOTE):
        piece = TEXT[start : start + QUOTE].strip()
        whole = TEXT[start : start + QUOTE + (QUOTE - len(piece))]
        if len(whole.strip()) >= QUOTE:
            assert quotable.quoted(f"xx {whole} yy") == {"one"}, start
    assert quotable.quoted(f"xx{TEXT[20 : 20 + QUOTE - 1]}zz") == set()
    assert quotable.quoted("") == set()


def test_white_space_and_marks_do_not_hide_a_quotation() -> None:
    said = "The note: **Start the fixture with `docker compose up -d\npg-fixture`** before the integration tests"
    assert Quotable({"one": TEXT}).quoted(said) == {"one"}


def test_a_chinese_quotation_counts_by_characters() -> None:
    text = (
        "集成测试之前要先启动数据库容器，它监听端口五四三二，启动需要一分钟左右，"
        "失败时先看容器的日志再重试一次，不要直接重跑。"
    )
    assert Quotable({"one": text}).quoted(f"记忆里说：{text[3:45]}") == {"one"}
    assert Quotable({"one": text}).quoted(text[:30]) == set()


# ------------------------------------------------------------------------------------------------------------ reuse


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize(
    ("hits", "used"),
    [
        (Hits(), False),
        (Hits(anchor=True), True),
        (Hits(commands=1), True),
        (Hits(commands=1, restated=True), True),
        (Hits(files=1, names_files=1), True),
        (Hits(files=1, names_files=4), False),
        (Hits(files=2, names_files=4), True),
        (Hits(files=1, names_files=4, identifiers=("e_lock_7",)), True),
        (Hits(files=1, names_files=1, restated=True), False),
        (Hits(identifiers=("e_lock_7",)), False),
        (Hits(identifiers=("e_lock_7", "retry_ms")), True),
        (Hits(identifiers=("upload_timeout_ms",)), True),
        (Hits(identifiers=("upload_timeout_ms",), restated=True), False),
    ],
)
def test_what_of_a_record_a_call_has_to_hold(hits: Hits, used: bool) -> None:
    assert reuses(hits) is used


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        ("git status", False),
        ("npm test", False),
        ("npm run build", False),
        ("pytest -x", False),
        ("cargo test --workspace", True),
        ("/usr/bin/git push --force-with-lease", True),
        ("docker compose up -d pg-fixture", True),
        ("make integration-test", True),
        ("make", False),
    ],
)
def test_what_is_run_everywhere_tells_nothing(words: str, telling: bool) -> None:
    assert telling_command(tuple(words.split())) is telling


@pytest.mark.parametrize(
    ("name", "telling"),
    [("README.md", False), ("./package.json", False), ("src/main.py", True), ("deploy.sh", True), ("Makefile", False)],
)
def test_what_every_project_has_tells_nothing(name: str, telling: bool) -> None:
    assert telling_file(name) is telling


@pytest.mark.parametrize(
    ("name", "telling"),
    [
        ("retry_limit_ms", True),
        ("e0277x", True),
        ("dry-run", False),
        ("my-long-name", True),
        ("config", False),
        ("a_b", False),
        ("数据库", False),
        ("src/net/retry", False),
        ("two words_", False),
    ],
)
def test_an_identifier_has_signs_that_words_do_not_have(name: str, telling: bool) -> None:
    assert telling_name(name) is telling


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("When `make e2e` fails, run `docker compose restart`.", "make e2e"),
        ("`make e2e` sometimes hangs: kill the browser.", "make e2e"),
        ("如果 `make e2e` 失败，就重启容器。", "make e2e"),
        ("`make e2e` 会失败，先重启容器。", "make e2e"),
        ("`gh pr view --comments` leaves out threads; use the endpoint.", "gh pr view"),
        ("Use `uv run pytest` instead of `python -m pytest`.", "python -m pytest"),
        ("Do not run `git push --force`.", "git push"),
        ("安装用 pnpm，不要用 `npm ci`。", "npm ci"),
        ("make e2e fails with E0463 until the target was added.", "make e2e"),
    ],
)
def test_the_trouble_that_a_record_is_about_is_not_what_it_advises(text: str, command: str) -> None:
    assert command not in advice(text)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Run `make seed` before the tests; they need its rows.", "`make seed`"),
        ("Use `uv run pytest` instead of `python -m pytest`.", "`uv run pytest`"),
        ("The container is not running: start it with `docker compose up -d`.", "`docker compose up -d`"),
        ("不要用 `npm ci`；用 `pnpm install --frozen-lockfile`。", "pnpm install"),
    ],
)
def test_what_is_to_be_done_is_advice(text: str, command: str) -> None:
    assert command in advice(text)


@pytest.mark.parametrize(
    ("tool", "acts"), [("Bash", True), ("write", True), ("ExitPlanMode", False), ("todo_write", False)]
)
def test_a_plan_is_no_act(tool: str, acts: bool) -> None:
    assert acts_on_its_own(tool) is acts


def test_a_long_path_is_no_quotation() -> None:
    path = "packages/frontend/src/components/settings/ProfileEditor.tsx"
    assert Quotable({"one": f"Call {path} from the root."}).quoted(f"I changed `{path}` now") == set()


def test_a_digest_is_named_by_its_first_digits() -> None:
    assert digests_in(f"see {'ab' * 8}, {'cd' * 32} and {'ef' * 4} x{'12' * 8}") == {"ab" * 8, "cd" * 8}
