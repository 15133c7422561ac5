"""What it costs to judge a claim: to admit it over its messages, to compare it with a record, and over texts that are
built to be slow.

A segment of a checkpoint has 12 000 characters and 20 items at most; each item is admitted twice and compared with five
records. 150 ms and 1 ms a pair leave 50 of the 300 ms that its own work may take. Each text is new: nothing is
remembered from the run before.
`python -m tests.bench.bench_judgement [--json] [--rounds N]`
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

from governance.formation.admit import Admitted, Claim, Shown, admit
from governance.formation.claims import contrary, near
from governance.formation.contracts import Quote, Role
from governance.formation.dates import relative_in, resolved
from governance.formation.marks import marks_of
from governance.formation.negation import cuts
from governance.formation.quotes import find
from governance.formation.support import unsupported
from tests.bench.bench_screen import mixed
from tests.bench.measure import Figure, of, run

AT = 1_793_696_400_000  # 2026-11-03, a Tuesday
MESSAGES, MESSAGE, ITEMS, LARGE = 12, 850, 20, 64 * 1024
THINGS = ("retry limit", "upload size", "cache lifetime", "worker count", "重试上限", "超时时间")
PLACES = ("in src/billing/worker.py", "of the ledger service", "for nightly exports", "在测试环境")
HOSTILE = (
    *("no ", "不", "no doubt ", "是不", "stop ", "n't", "yesterday ", "昨天", "the ", "1", "三", "`", "a couple of "),
    *(
        "-",
        "1,",
        "111,",
        "1.",
        "/",
        "a/",
        "@",
        "_",
        "a-",
        ".",
        "../",
        "aB",
        "12:",
        "::",
        " ",
        "\n",
        "e\u0301",
        "\u0301",
    ),
    *("1千", "()", "https://", "3 days ago ", "每", "every ", "A B ", "不同", "a_b "),
)


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    rng = random.Random(7)
    segments = [_segment(rng, seed) for seed in range(options.rounds)]
    admitting = [_micros(partial(_judge, *segment)) / 1000 for segment in segments]
    pairs = [(_sentence(rng), _sentence(rng)) for _ in range(20 * options.rounds)]
    comparing = [_micros(partial(_compare, *pair)) / 1000 for pair in pairs]
    plain = mixed(LARGE, 3)
    usual = statistics.median(_slow(f"{plain}{number}") for number in range(5))
    slow = {piece: _slow(piece * (LARGE // len(piece.encode()))) / usual for piece in HOSTILE}
    worst = max(slow, key=slow.__getitem__)
    name = "admit 20 items twice over a segment of 12 000 characters"
    return [
        of(name, "ms", admitting, bound="≤ 150", holds=statistics.median(admitting) <= 150),
        of("compare an item with a record", "ms", comparing, bound="≤ 1", holds=statistics.median(comparing) <= 1),
        of(
            "64 KiB built to be slow, in times of a plain one",
            "×",
            list(slow.values()),
            bound="worst ≤ 10",
            holds=slow[worst] <= 10,
            notes={"worst": f"{worst!r}, {slow[worst]:.1f} ×", "plain": f"{usual / 1000:.1f} ms"},
        ),
    ]


def _segment(rng: random.Random, seed: int) -> tuple[list[Claim], dict[str, Shown]]:
    """20 claims that stand, over 12 messages of mixed text that hold their quotes somewhere; each cites two."""
    texts = {f"m{place}": mixed(MESSAGE, 100 * seed + place) for place in range(MESSAGES)}
    claims = []
    for index in range(ITEMS):
        number, names = rng.randrange(10_000), rng.sample(sorted(texts), 2)
        said = [f"{rng.choice(THINGS)} {rng.choice(PLACES)} is {number} since yesterday" for _ in names]
        for name, quote in zip(names, said, strict=True):
            texts[name] += f"\n{quote}\n"
        quotes = tuple(Quote(message_id=name, quote=quote) for name, quote in zip(names, said, strict=True))
        content = f"Since 2026-11-02 the {rng.choice(THINGS)} is {number}"
        claims.append(Claim(content=content, citations=quotes, title=f"The value {number}", index=index))
    return claims, {name: Shown(content=text, role=Role.USER, timestamp=AT) for name, text in texts.items()}


def _judge(claims: Sequence[Claim], sources: dict[str, Shown]) -> None:
    for claim in (*claims, *claims):
        judged = admit(claim, sources)
        if not isinstance(judged, Admitted):
            raise RuntimeError(f"The bench measures claims that stand: {judged}")


def _compare(one: str, other: str) -> None:
    near(one, other)
    contrary(one, other)


def _sentence(rng: random.Random) -> str:
    return f"The {rng.choice(THINGS)} {rng.choice(PLACES)} is {rng.randrange(9_000)} and not {rng.randrange(9_000)} ms."


def _slow(text: str) -> float:
    """Microseconds for a text of 64 KiB as message, quote and content in one."""
    middle = len(text) // 2

    def act() -> None:
        find(text[middle : middle + 900] + "?", text)
        cuts(text, middle, middle + 100)
        relative_in(text)
        resolved(text, AT)
        marks_of(text)
        unsupported(text[:2_000], [text])
        near(text[:2_000], text[1:2_001])

    return _micros(act)


def _micros(act: Callable[[], object]) -> float:
    """Microseconds of this thread's own time: others on the machine do not count."""
    begun = time.thread_time()
    act()
    return (time.thread_time() - begun) * 1e6


if __name__ == "__main__":
    run("judgement", measure, rounds=30)
