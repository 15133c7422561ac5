"""How often the gate speaks to prompts that no record answers, and to those that one does, by size of store.

    python -m tests.calibration.prompts DATA [--sizes 50,500,5000,10000] [--show] [--draw]
        [--free] [--attention quiet|eager]
    python -m tests.calibration.prompts DATA --tuning

DATA: the folder of all sets. Each prompt opens a session of its own and goes through the real recall, by words alone
and with the engine. `--tuning` asks the sets that the numbers of the answer door were chosen on; the others judge
them. `--free` sets all bars to nought, for what a bar can reach at most. `--draw` writes the curve of
docs/explanation/prompts.md. Needs the extra semantic; takes four minutes.
"""

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from host.evaluation.store import memory_id
from recall.answer import AnswerPolicy, subject
from recall.attention import tuned
from recall.background import load_background
from recall.confidence import Bar, ConfidencePolicy
from recall.contracts import Attention, SourceName
from tests.calibration.asked import LEXICAL, SEMANTIC, Seen, look, stores
from tests.calibration.drawing import Line, drawn
from tests.calibration.texts import EVAL, PROMPTS, agent_notes, docs_of, filled, filler, queries_of

SIZES = (50, 500, 5000, 10_000)
CURVE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "prompts.svg"
ARMS = {"words": LEXICAL, "words and meaning": SEMANTIC}
_NOUGHT = 1e-6
FREE = AnswerPolicy(
    surprise=_NOUGHT,
    surprise_of_one=_NOUGHT,
    surprise_of_order=_NOUGHT,
    order_growth=0,
    coverage=_NOUGHT,
    phrase_coverage=_NOUGHT,
    several_coverage=_NOUGHT,
    order_coverage=_NOUGHT,
    both=_NOUGHT,
    both_of_order=_NOUGHT,
)


@dataclass(frozen=True)
class Prompt:
    """What is asked, of which kind it is, and the texts that answer it (none: nothing should be handed over)."""

    id: str
    text: str
    kind: str
    answers: frozenset[str] = frozenset()


@dataclass
class Tally:
    """Of the prompts of one kind: how many got the right record, a wrong one; how many could have."""

    asked: int = 0
    right: int = 0
    wrong: int = 0
    shared: int = 0  # the right record shares a word with the prompt
    nearest: int = 0  # no record is nearer by the engine than the right one
    found: int = 0  # the right record is among those that were looked up

    def __str__(self) -> str:
        return f"{self.right} right, {self.wrong} wrong of {self.asked}"


@dataclass
class Figures:
    """Tallies by (size, arms, kind)."""

    tallies: dict[tuple[int, str, str], Tally] = field(default_factory=lambda: defaultdict(Tally))

    def of(self, size: int, arms: str, kinds: Iterable[str]) -> Tally:
        """The sum over kinds."""
        chosen = [one for (has, by, kind), one in self.tallies.items() if (has, by) == (size, arms) and kind in kinds]
        return Tally(*(sum(getattr(one, name) for one in chosen) for name in Tally.__dataclass_fields__))

    def spoken(self, size: int, arms: str, kinds: Iterable[str]) -> float:
        """Share of prompts that got any record."""
        every = self.of(size, arms, kinds)
        return (every.right + every.wrong) / every.asked

    def fired(self, size: int, arms: str, kinds: Iterable[str]) -> float:
        """Share of prompts that got the right record."""
        every = self.of(size, arms, kinds)
        return every.right / every.asked


FIRST = ("close", "paraphrase")
SECOND = ("second close", "second paraphrase")
ON = (*FIRST, *SECOND)
OFF = ("off-topic", "agentmem", "real")


def records() -> list[str]:
    """The records of the set of prompts."""
    return [one["text"] for one in _prompts()["records"]]


def on_topic() -> list[Prompt]:
    """Prompts that a record answers: the first set, then the second."""
    text = {one["id"]: one["text"] for one in _prompts()["records"]}
    first = [
        Prompt(one["id"], one["prompt"], one["form"], frozenset(text[known] for known in one["answers"]))
        for one in _prompts()["onTopic"]
    ]
    asked = json.loads((PROMPTS / "asked.json").read_text(encoding="utf-8"))["prompts"]
    kinds = {"close": SECOND[0], "paraphrased": SECOND[1]}
    return [
        *first,
        *(Prompt(one["id"], one["text"], kinds[one["style"]], frozenset({text[one["record"]]})) for one in asked),
    ]


def off_topic() -> list[Prompt]:
    """Prompts that none answers: ours, the negatives of agentmem, and what people typed in recorded sessions."""
    own = [Prompt(one["id"], one["prompt"], "off-topic") for one in _prompts()["offTopic"]]
    events = [Prompt(str(number), text, "agentmem") for number, text, _, _ in queries_of(EVAL / "agentmem_neg.json.gz")]
    typed = json.loads((PROMPTS / "real.json").read_text(encoding="utf-8"))["prompts"]
    return [*own, *events, *(Prompt(one["id"], one["prompt"], "real") for one in typed)]


def trivial() -> list[Prompt]:
    """Prompts that need nothing."""
    given = json.loads((PROMPTS / "trivial.json").read_text(encoding="utf-8"))["trivial"]
    return [Prompt(one["id"], one["prompt"], "trivial") for one in given]


def contents(around: Sequence[str], sizes: Iterable[int]) -> dict[str, list[str]]:
    """Stores by name, `size` or `size/part`: where the records leave no room for others, each half has a store."""
    own = records()
    found: dict[str, list[str]] = {}
    for size in sizes:
        if size > len(own):
            found[str(size)] = filled(own, around, size)
        else:
            found |= {f"{size}-{part}": filled(own[part::2], around, size) for part in (0, 1)}
    return found


def tuning(data: Path, sizes: Iterable[int]) -> tuple[dict[str, list[str]], list[Prompt]]:
    """The stores and prompts that the numbers were chosen on."""
    beliefs = docs_of(data / "precisionmem" / "precisionmem.json.gz")
    own = [*agent_notes(), *beliefs.values()]
    asked: list[Prompt] = []
    gone: set[str] = set()
    for name, step in (("agentmem", 1), ("precisionmem", 1), ("cosqa", 4), ("cmrc2018", 10)):
        path = data / name / f"{name}.json.gz"
        text = docs_of(path)
        for number, query, relevant, kind in queries_of(path)[::step]:
            answers = frozenset(text[str(one)] for one in relevant if str(one) in text)
            gone |= answers if step > 1 else set()
            asked.append(
                Prompt(
                    str(number), query, f"{name} {kind}" if step == 1 else name, answers if step == 1 else frozenset()
                )
            )
    asked += [
        Prompt(str(number), text, "agentmem negative")
        for number, text, _, _ in queries_of(data / "agentmem" / "agentmem_neg.json.gz")
    ]
    ordinary = json.loads((PROMPTS / "ordinary.json").read_text(encoding="utf-8"))["prompts"]
    asked += [Prompt(str(number), text, "ordinary") for number, text in enumerate(ordinary)]
    around = [text for text in filler(data) if text not in gone and text not in set(own)]
    return {str(size): filled(own, around, size) for size in sizes}, asked


async def measured(
    held: Mapping[str, Sequence[str]],
    prompts: Sequence[Prompt],
    arms: Mapping[str, Sequence[str]],
    *,
    show: bool = False,
    policy: ConfidencePolicy | None = None,
) -> Figures:
    """Every prompt asked of every store that holds an answer to it, or that has to hold none."""
    figures, bar = Figures(), Bar(policy or ConfidencePolicy(), load_background())
    engine = any(SourceName.ENGINE in names for names in arms.values())
    with tempfile.TemporaryDirectory(prefix="prompts-") as folder:
        async with stores(Path(folder), held, engine=engine) as (recall, places):
            for name, texts in held.items():
                size = int(name.partition("-")[0])
                for prompt in prompts:
                    right = {
                        memory_id(places[name] + place) for place, text in enumerate(texts) if text in prompt.answers
                    }
                    if prompt.answers and not right:
                        continue
                    for by, sources in arms.items():
                        seen = await look(recall, prompt.text, name, sources)
                        _count(figures.tallies[size, by, prompt.kind], seen, right, bar)
                        if show:
                            _show(size, by, prompt, seen, right, bar)
    return figures


def _count(tally: Tally, seen: Seen | None, right: set[str], bar: Bar) -> None:
    tally.asked += 1
    if seen is None:
        return
    answer = seen.answer(bar)
    if answer is not None and answer.candidate.memory_id in right:
        tally.right += 1
    elif answer is not None:
        tally.wrong += 1
    words = frozenset(subject(seen.cue.focus))
    found = {one.candidate.memory_id: one for one in seen.ranked.ranked}
    tally.found += not right.isdisjoint(found)
    tally.shared += any(not words.isdisjoint(found[known].candidate.terms) for known in right if known in found)
    cosines = {known: one.confidences.get(SourceName.ENGINE, 0.0) for known, one in found.items()}
    if cosines and max(cosines.values()) > 0:
        tally.nearest += max(cosines, key=lambda known: (cosines[known], known)) in right


def _show(size: int, by: str, prompt: Prompt, seen: Seen | None, right: set[str], bar: Bar) -> None:
    answer = seen.answer(bar) if seen is not None else None
    if answer is not None and answer.candidate.memory_id not in right:
        found = " ".join(answer.candidate.payload.split())
        print(f"{size} {by} | {prompt.kind} | {' '.join(prompt.text.split())[:80]} | {answer.score:.1f} {found[:80]}")


def rows(figures: Figures, sizes: Iterable[int]) -> Iterator[str]:
    """The tables of the documents."""
    heads = ("records", "by", "off-topic", "of ours", "agentmem", "real", "first set", "close", "paraphrased")
    yield f"| {' | '.join((*heads, 'second set', *heads[-2:], 'trivial'))} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for size in sizes:
        for by in ARMS:
            off = [f"{100 * figures.spoken(size, by, kinds):.1f} %" for kinds in (OFF, *((kind,) for kind in OFF))]
            on = [f"{100 * figures.fired(size, by, kinds):.0f} %" for kinds in _EACH]
            none = figures.of(size, by, ("trivial",))
            yield f"| {size:,} | {by} | {' | '.join([*off, *on])} | {none.right + none.wrong} |"
    for title, by, field_ in (
        ("shares a word", "words and meaning", "shared"),
        ("found by words", "words", "found"),
        ("found by either", "words and meaning", "found"),
        ("nearest by meaning", "words and meaning", "nearest"),
    ):
        yield ""
        yield f"| {title}: records | {' | '.join(ON)} |"
        yield "|---|---|---|---|---|"
        for size in sizes:
            tallies = [figures.of(size, by, (kind,)) for kind in ON]
            yield f"| {size:,} | {' | '.join(f'{getattr(one, field_)} of {one.asked}' for one in tallies)} |"


_EACH = (FIRST, *((kind,) for kind in FIRST), SECOND, *((kind,) for kind in SECOND))


def lines(figures: Figures, sizes: Sequence[int]) -> list[Line]:
    """The curves."""
    found = []
    for by, dash in (("words", True), ("words and meaning", False)):
        for label, colour, kinds, share in (
            ("first set", "#1a7f37", FIRST, figures.fired),
            ("second set", "#0969da", SECOND, figures.fired),
            ("off-topic", "#cf222e", OFF, figures.spoken),
        ):
            points = tuple((float(size), share(size, by, kinds)) for size in sizes)
            found.append(Line(label=f"{label}, {by}", colour=colour, dashed=dash, points=points))
    return found


def _prompts() -> dict[str, list[dict]]:
    return json.loads((PROMPTS / "prompts.json").read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask prompts with and without an answer, by size of store.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--tuning", action="store_true", help="ask the sets that the numbers were chosen on")
    parser.add_argument("--show", action="store_true", help="print what was handed over wrongly")
    parser.add_argument("--free", action="store_true", help="all bars of the answer door at nought")
    parser.add_argument("--attention", type=Attention, choices=list(Attention), default=Attention.NORMAL)
    parser.add_argument("--draw", action="store_true", help="write the curve of the documents")
    options = parser.parse_args()
    sizes = tuple(map(int, options.sizes.split(",")))
    if options.tuning:
        held, prompts = tuning(options.data, (91, 500, 5000, 9500))
        figures = asyncio.run(measured(held, prompts, ARMS, show=options.show))
        for (size, by, kind), one in sorted(figures.tallies.items()):
            print(f"{size:6} {by:18} {kind:50} {one}")
        return
    held = contents(filler(options.data), sizes)
    asked = [*on_topic(), *off_topic(), *trivial()]
    policy = tuned(ConfidencePolicy(answer=FREE) if options.free else ConfidencePolicy(), options.attention)
    figures = asyncio.run(measured(held, asked, ARMS, show=options.show, policy=policy))
    print("\n".join(rows(figures, sizes)))
    if options.draw:
        CURVE.write_text(drawn(lines(figures, sizes)), encoding="utf-8")


if __name__ == "__main__":
    main()
