"""`eval decisions`: were the right memories handed over at the right time, in sessions labelled in hindsight."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from host.cli.bars import bar
from host.cli.output import count_of, json_option, say, show_json
from host.cli.tables import one_line, print_table
from host.errors import RemoraError
from host.evaluation.decisions import Handed, Options, Played, run
from host.evaluation.oddities import odd
from host.evaluation.scoring import Figures, Judge, Judged, Scored, Verdict, figures, of_set
from host.evaluation.sessions import FILES, Recording, folders, load
from recall.contracts import Attention, Frozen
from recall.engine import available

EXTRA = "Install it from the clone with: pip install -c .ci/constraints.txt '.[semantic]'"
MOST_JOBS = 8  # unless asked for: each has a store of its own, and with the engine its model
TEXT = 80  # characters of a memory in the list of rows


class Passes(Frozen, frozen=True, kw_only=True):
    """What the passes came to, over all sessions: counts by reason."""

    decided: int
    packets: int
    delivered: int
    silences: dict[str, int]
    drops: dict[str, int]
    shortfalls: dict[str, int]
    left_out: dict[str, int]


class Shown(Frozen, frozen=True, kw_only=True):
    """One memory handed over, with its verdict."""

    session: str
    seq: int
    step: int
    trigger: str
    level: str
    memory: str
    verdict: Verdict
    quiet: bool
    why: str
    found: str
    text: str


class Report(Frozen, frozen=True, kw_only=True):
    """Everything that came of it. `triggers`: what the memories given for each reason were found to be."""

    whole: Figures = msgspec.field(name="set")
    sessions: dict[str, Figures]
    engine: bool
    attention: Attention
    passes: Passes
    triggers: dict[str, dict[Verdict, int]]
    rows: tuple[Shown, ...] | msgspec.UnsetType


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
@click.option(
    "--predictions",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what was handed over to this file, as JSON lines: session, seq, memories, bytes.",
)
@click.option("--sessions", "names", multiple=True, metavar="NAME", help="Only this session; may be repeated.")
@click.option("--per-session", is_flag=True, help="Show the figures of each session too.")
@click.option("--rows", "each", is_flag=True, help="Show each memory that was handed over, with its verdict.")
@click.option(
    "--engine/--no-engine", default=None, help="Search by meaning too, or by words alone.", show_default="as installed"
)
@click.option(
    "--attention",
    type=click.Choice([str(one) for one in Attention]),
    default=str(Attention.NORMAL),
    show_default=True,
    help="How ready it speaks.",
)
@click.option(
    "--jobs", type=click.IntRange(1), help="Replay so many sessions at once.", show_default="one a core, 8 at most"
)
@json_option
def decisions(
    folder: Path,
    predictions: Path | None,
    names: tuple[str, ...],
    jobs: int | None,
    **options: Any,
) -> None:
    """Measure when it speaks, and with what.

    DIR is a folder of labelled sessions, or one of them. Each is replayed through a host of its own, event by event,
    and what was handed over is held against the labels. Your own memories are left alone, no model is asked, and the
    same sessions give the same figures on every machine.

    \b
    Examples:
      remora-pre eval decisions sessions/ --per-session
      remora-pre eval decisions sessions/ --no-engine --predictions out.jsonl --json
    """
    chosen = _chosen(folder, names)
    engine = _engine(options["engine"])
    asked = Options(engine=engine, attention=Attention(options["attention"]))
    recordings = [load(one) for one in chosen]  # a broken one is said before time is spent on the others
    if predictions is not None:
        _writable(predictions, chosen)
    for recording in recordings:
        for oddity in odd(recording):
            say(f"{recording.name}: {oddity}.", err=True)
    with bar("replaying") as told:
        told(0, len(chosen))
        played = run(chosen, asked, jobs or min(MOST_JOBS, os.cpu_count() or 1), lambda done: told(done, len(chosen)))
    scored = [Judge(recording).judge(one.rows) for recording, one in zip(recordings, played, strict=True)]
    if predictions is not None:
        _write(predictions, played)
    report = _report(asked, played, scored)
    if options["as_json"]:
        show_json(report if options["each"] else msgspec.structs.replace(report, rows=msgspec.UNSET))
    else:
        _show(report, scored, per_session=options["per_session"], each=options["each"])


def _chosen(folder: Path, names: Sequence[str]) -> list[Path]:
    found = folders(folder)
    missing = sorted(set(names) - {one.name for one in found})
    if missing:
        there = ", ".join(one.name for one in found)
        raise RemoraError(f"There is no session {', '.join(missing)} in {folder}.", f"There are: {there}.")
    return [one for one in found if not names or one.name in names]


def _engine(wanted: bool | None) -> bool:
    if wanted and not available():
        raise RemoraError("The extra semantic is not installed.", EXTRA)
    return available() if wanted is None else wanted


def _writable(file: Path, chosen: Iterable[Path]) -> None:
    """Raise RemoraError, before the time is spent, when the predictions could not be kept or would take the place of a
    session."""
    place = file.resolve()
    if place.parent in [folder.resolve() for folder in chosen] and place.name in FILES:
        raise RemoraError(f"{file} is a file of a session.", "Name another file for the predictions.")
    if not place.parent.is_dir():
        raise RemoraError(f"{file} cannot be written: there is no folder {place.parent}.", "Make it first.")
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise RemoraError(f"{file} cannot be written: it or its folder is not yours to write.", "Name another file.")


def _write(file: Path, played: Iterable[Played]) -> None:
    lines = [msgspec.json.encode(row) + b"\n" for one in played for row in one.rows]
    try:
        file.write_bytes(b"".join(lines))
    except OSError as error:
        raise RemoraError(f"{file} cannot be written: {error.strerror}.", "Name another file.") from None


def _report(asked: Options, played: Sequence[Played], scored: Sequence[Scored]) -> Report:
    rows = tuple(_shown(*one) for each in zip(played, scored, strict=True) for one in _matched(*each))
    return Report(
        whole=of_set(scored),
        sessions={one.recording.name: figures([one]) for one in scored},
        engine=asked.engine,
        attention=asked.attention,
        passes=_passes(played),
        triggers=_by_trigger(rows),
        rows=rows,
    )


def _passes(played: Sequence[Played]) -> Passes:
    decided = sum(one.passes for one in played)
    silences = _summed(one.silences for one in played)
    return Passes(
        decided=decided,
        packets=decided - sum(silences.values()),
        delivered=sum(len(one.handed) for one in played),
        silences=silences,
        drops=_summed(one.drops for one in played),
        shortfalls=_summed(one.shortfalls for one in played),
        left_out=_summed(one.left_out for one in played),
    )


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for one in counts:
        found.update(one)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _by_trigger(rows: Iterable[Shown]) -> dict[str, dict[Verdict, int]]:
    """Most first, then by name; every verdict is named."""
    found: dict[str, dict[Verdict, int]] = {}
    for row in rows:
        found.setdefault(row.trigger, dict.fromkeys(Verdict, 0))[row.verdict] += 1
    return dict(sorted(found.items(), key=lambda pair: (-sum(pair[1].values()), pair[0])))


def _matched(played: Played, scored: Scored) -> Iterable[tuple[Recording, Handed, int, Judged]]:
    """Each memory handed over: its packet, its place in it, and its verdict."""
    places = [(handed, place) for handed in played.handed for place in range(len(handed.row.memories))]
    for (handed, place), judged in zip(places, scored.judged, strict=True):
        yield scored.recording, handed, place, judged


def _shown(recording: Recording, handed: Handed, place: int, judged: Judged) -> Shown:
    text = next((one.text for one in recording.memories if one.id == judged.memory), "")
    return Shown(
        session=recording.name,
        seq=judged.seq,
        step=handed.step,
        trigger=handed.trigger,
        level=handed.levels[place],
        memory=judged.memory,
        verdict=judged.verdict,
        quiet=judged.quiet,
        why=judged.why,
        found=handed.why[place],
        text=text,
    )


# ------------------------------------------------------------------------------------------------------- on the screen

HEADINGS = ("session", "F0.5", "precision", "recall", "hits", "false", "neutral", "quiet", "never", "lead", "bytes")
ROW_HEADINGS = ("session", "seq", "step", "trigger", "level", "verdict", "memory")


def _show(report: Report, scored: Sequence[Scored], *, per_session: bool, each: bool) -> None:
    found = report.whole
    events = sum(len(one.recording.events) for one in scored)
    what = (count_of(found.sessions, "session"), count_of(events, "event"), count_of(found.steps, "model step"))
    say(f"{', '.join(what)}, {count_of(found.labels, 'need')}")
    _table(("figure", "value", ""), list(_figures(found)))
    if per_session:
        _table(HEADINGS, [_line(name, own) for name, own in report.sessions.items()])
    if each and isinstance(report.rows, tuple):
        _table(ROW_HEADINGS, [_cells(row) for row in report.rows])
    _table(("spoke because", *Verdict), [(why, *map(str, one.values())) for why, one in report.triggers.items()])
    _show_passes(report.passes)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        say()
        print_table(headings, rows)


def _figures(found: Figures) -> Iterable[Sequence[str]]:
    why_false = ", ".join(f"{count} {why}" for why, count in found.false.items())
    false = f"{sum(found.false.values())} false ({why_false})" if why_false else "none false"
    never = ", ".join(f"{count} {why}" for why, count in found.never_by_reason.items())
    classes = ", ".join(f"{name} {_number(share)}" for name, share in found.recall_by_class.items())
    yield "F0.5", _number(found.f_half), f"mean of the sessions {_number(found.f_half_macro)}"
    yield (
        "precision",
        _number(found.precision),
        f"{count_of(found.hits, 'hit')}, {false}, {found.neutral} neutral",
    )
    yield "recall", _number(found.recall), f"by overlap: {classes}"
    yield "lead", _number(found.mean_lead_steps), f"steps; {_number(found.lead_share)} of what was possible"
    yield "false in 100 steps", _number(found.false_per_100_steps), ""
    yield "in quiet ranges", str(found.quiet_violations), ""
    yield "never to be given", str(found.never_violations), never
    yield "duplicates", str(found.duplicates), ""
    yield "bytes a session", str(found.bytes_per_session), f"memories handed over: {found.injections}"


def _number(value: float | msgspec.UnsetType | None) -> str:
    return "-" if value is None or value is msgspec.UNSET else f"{value:g}"


def _line(name: str, own: Figures) -> Sequence[str]:
    numbers = (own.f_half, own.precision, own.recall)
    wrong = (sum(own.false.values()), own.neutral, own.quiet_violations, own.never_violations)
    rest = (_number(own.mean_lead_steps), str(own.bytes_per_session))
    return (name, *map(_number, numbers), f"{own.hits}/{own.labels}", *map(str, wrong), *rest)


def _cells(row: Shown) -> Sequence[str]:
    verdict = f"{row.verdict}{' (quiet)' if row.quiet else ''}"
    return row.session, str(row.seq), str(row.step), row.trigger, row.level, verdict, one_line(row.text, TEXT)


def _show_passes(passes: Passes) -> None:
    say()
    decided, handed = f"{passes.decided} passes", count_of(passes.delivered, "packet")
    say(f"{decided}, {passes.packets} of them with a packet; {handed} handed over.")
    print_table(("silent because", "passes"), [(why, str(count)) for why, count in passes.silences.items()])
    for what, counts in (
        ("Packets that were not handed over as they were", passes.drops),
        ("Arms that fell short", passes.shortfalls),
        ("Events that could not be used", passes.left_out),
    ):
        if counts:
            say(f"{what}: {', '.join(f'{count} {why}' for why, count in counts.items())}")
