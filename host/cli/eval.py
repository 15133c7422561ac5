"""`eval`: how well memories are found, and how well it is decided when to hand one over."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from host.cli.bars import Told, bar
from host.cli.eval_decisions import decisions
from host.cli.output import count_of, json_option, say, show_json
from host.cli.tables import print_table
from host.clock import SystemClock
from host.errors import RemoraError
from host.evaluation.datasets import FORMAT, Passed, load
from host.evaluation.metrics import Quality
from host.evaluation.ready import Hear
from host.evaluation.recall import ARMS, Evaluation, Wanted, arms_of
from host.evaluation.results import Abstention, ArmFigures, Report, SetFigures

HEADINGS = ("arm", "queries", "R@1", "R@5", "R@10", "MRR", "nDCG@10", "p50 ms", "p99 ms")


@click.group(name="eval")
def evaluation() -> None:
    """Measure what is found, and when it is handed over, where the answers are known.

    \b
    Examples:
      remora-pre eval recall questions.json
      remora-pre eval decisions sessions/
    """


evaluation.add_command(decisions)


@evaluation.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="DATASET…")
@click.option(
    "--arm",
    "arms",
    multiple=True,
    type=click.Choice([*ARMS, "all"]),
    default=("all",),
    show_default="all",
    help="Only this arm or baseline; may be repeated.",
)
@click.option(
    "--limit", type=click.IntRange(0), default=0, help="Ask so many queries of each set, evenly spread; 0 asks all."
)
@click.option("--by-type", is_flag=True, help="Show the figures of each type of query too.")
@json_option
def recall(datasets: tuple[Path, ...], arms: tuple[str, ...], limit: int, by_type: bool, as_json: bool) -> None:
    """Measure what is found, and how fast, against two baselines.

    A set is a JSON file, gzipped or not, of documents and of queries whose relevant documents are known; a folder
    stands for all sets below it. The documents become memories in a temporary folder and are searched for as a session
    searches. The baselines are SQLite's full-text search: exhaustive over our own terms, and plain as it comes. Your
    own memories are left alone, and no network is needed.

    \b
    Examples:
      remora-pre eval recall questions.json --by-type
      remora-pre eval recall sets/ --arm lexical --arm exhaustive --json
    """
    chosen, note = arms_of(arms)
    run = Evaluation(Wanted(arms=chosen, limit=limit), SystemClock())
    sets: list[SetFigures] = []
    passed_over: list[str] = []
    for dataset in load(datasets):
        if isinstance(dataset, Passed):
            passed_over.append(dataset.file)
            continue
        with _bars(dataset.name) as hear:
            sets.append(asyncio.run(run.run(dataset, hear)))
        if not as_json:
            _show(sets[-1], by_type=by_type)
    if not sets:
        raise RemoraError("None of the files is a set.", FORMAT)
    report = Report(
        sets=tuple(sets),
        abstention=run.certainty.abstention(),
        notes=(note,) if note else (),
        passed_over=tuple(passed_over),
    )
    if as_json:
        show_json(report)
    else:
        _show_rest(report)


@contextmanager
def _bars(name: str) -> Iterator[Hear]:
    """A bar for what is under way; the next thing's takes its place."""
    doing = ""
    with ExitStack() as stack:
        told: Told = stack.enter_context(bar(name))

        def hear(what: str, done: int, total: int) -> None:
            nonlocal doing, told
            if what != doing:
                stack.close()
                doing, told = what, stack.enter_context(bar(f"{name}: {what}"))
            told(done, total)

        yield hear


def _show(found: SetFigures, *, by_type: bool) -> None:
    spaces = "" if found.namespaces == 1 else f" in {found.namespaces} namespaces"
    queries = "1 query" if found.queries == 1 else f"{found.queries} queries"
    say(f"{found.name}: {count_of(found.documents, 'document')}{spaces}, {queries}")
    for text in _odd(found):
        say(f"  {text}")
    rows: list[Sequence[str]] = []
    for arm in found.arms if found.queries else ():
        rows.append(_row(arm.arm, arm.quality, arm))
        if by_type:
            rows += [_row(f"  {kind or '(none)'}", quality) for kind, quality in arm.by_type.items()]
    if rows:
        print_table(HEADINGS, rows)
    for arm in found.arms:
        for why, count in arm.shortfalls.items():
            say(f"  {arm.arm} fell short {count} times: {why}")
    say()


def _odd(found: SetFigures) -> Iterator[str]:
    """What is not as in an ordinary set, in words."""
    if found.negatives:
        yield f"{found.negatives} more queries have no answer: see below"
    if found.unknown_ids:
        ids = count_of(found.unknown_ids, "relevant id")
        yield f"{ids} named no document; left out for it: {found.unanswerable} of the queries"
    if found.not_stored:
        yield f"{count_of(found.not_stored, 'document')} could not stand in a memory file: our arms do not have them"
    if found.kept_out:
        yield f"{count_of(found.kept_out, 'document')} looked like instructions: our arms never propose them"


def _row(name: str, quality: Quality, arm: ArmFigures | None = None) -> Sequence[str]:
    figures = (quality.recall1, quality.recall5, quality.recall10, quality.mrr, quality.ndcg10)
    cells = [name, str(quality.queries), *(f"{figure:.4f}" for figure in figures)]
    if arm is None:
        return [*cells, "", ""]
    return [*cells, f"{arm.latency.p50:.2f}", f"{arm.latency.p99:.2f}"]


def _show_rest(report: Report) -> None:
    if report.abstention:
        say("Queries that have no answer. AUC: how often a query that has one gets the surer best hit (.5 is chance).")
        headings = ("arm", "queries", "got something", "AUC", "sets")
        print_table(headings, [_abstained(one) for one in report.abstention])
        say()
    for text in report.notes:
        say(text)
    if report.passed_over:
        say(f"Passed over, as they are no sets: {', '.join(report.passed_over)}")


def _abstained(one: Abstention) -> Sequence[str]:
    auc = "-" if one.auc is None else f"{one.auc:.4f}"
    return one.arm, str(one.negatives), f"{one.answered:.0%}", auc, ", ".join(one.sets)
