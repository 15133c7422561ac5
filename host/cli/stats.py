"""`audit stats`: how often remora spoke and why it was silent, and what speaking changed."""

import re
from datetime import UTC, datetime
from pathlib import Path

import click

from governance.outcomes import Difference, LeftOut, Measured, Outcome, Share, Stats, Verdict
from host.cli.attention import advice_lines
from host.cli.durations import parse
from host.cli.link import ask
from host.cli.memory_answers import WorkspaceStanding
from host.cli.output import WORKSPACE_HELP, count_of, json_option, say, show_json
from host.cli.tables import print_table, when
from host.cli.wording import known_folder
from host.clock import SystemClock
from recall.contracts import Millis

DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
LABELS = {
    Outcome.FILE_OPENED: "a file that it names was opened",
    Outcome.COMMAND_USED: "a command that it names was used",
    Outcome.FAILURE_REPEATED: "the failure came again",
    Outcome.CORRECTED: "the user corrected the course",
}
SAID = {
    Verdict.TOO_FEW: "too few to tell",
    Verdict.NO_DIFFERENCE: "no difference shown",
    Verdict.MORE: "more often when given",
    Verdict.LESS: "less often when given",
}
WHY = {
    LeftOut.NO_STEP: "no step of the agent followed, so far as its product tells of steps",
    LeftOut.ERASED: "a memory in it was forgotten",
    LeftOut.NO_EVENTS: "the log does not hold its events any more",
}


def since_of(ctx: click.Context, param: click.Parameter, text: str | None) -> Millis | None:
    """A span back from now (`12h`, `7d`) or a day (`2026-11-30`, UTC), as epoch milliseconds."""
    if text is None:
        return None
    try:
        if DAY.fullmatch(text):
            return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
        return SystemClock().now() - parse(text)
    except ValueError as error:
        problem = f"{text} is no day: {error}." if DAY.fullmatch(text) else str(error)
        raise click.BadParameter(f"{problem} Or give a day, like 2026-11-30.") from error


@click.command()
@click.option("--since", callback=since_of, help="Only what came since: 12h, 7d, or a day like 2026-11-30 (UTC).")
@click.option("--workspace", type=click.Path(file_okay=False, path_type=Path), help=f"Only one. {WORKSPACE_HELP}")
@json_option
def stats(since: Millis | None, workspace: Path | None, as_json: bool) -> None:
    """Count passes, silences and packets, and compare packets given with packets held out.

    \b
    Examples:
      remora-pre audit stats --since 7d
      remora-pre audit stats --workspace .
    """
    params: dict[str, object] = {} if since is None else {"since": since}
    if workspace is not None:
        params["workspace"] = known_folder(workspace)
    counted = ask("audit.stats", params, Stats)
    if as_json:
        show_json(counted)
        return
    _tell(counted)
    if workspace is not None:
        here = ask("workspace.get", {"workspace": params["workspace"]}, WorkspaceStanding)
        for line in advice_lines(here.advice, here.attention):
            say(line)


def _tell(counted: Stats) -> None:
    started = "" if counted.since is None else f" since {when(counted.since)} UTC"
    say(f"Entries{started}: {counted.entries}, of {count_of(counted.sessions, 'session')}.")
    if not counted.entries:
        return
    _counts("passes", counted.passes)
    _counts("silent because", counted.silences)
    _counts("packets", counted.packets)
    _counts("dropped because", counted.drops)
    say()
    say(f"Handed over: {counted.bytes} bytes.")
    _tell_measured(counted.measured)


def _counts(title: str, counts: dict[str, int]) -> None:
    if counts:
        say()
        print_table((title, "count"), ((name, str(number)) for name, number in counts.items()))


def _tell_measured(measured: Measured) -> None:
    say()
    if not measured.given and not measured.held_out:
        why = "nothing is held out"
        if measured.share:
            why = f"{measured.share:.0%} is held out, and there is nothing to compare yet"
        where = "`evaluation.holdout` in the configuration, from the daemon's next start on"
        say(f"What handing over changes is not measured: {why} ({where}).")
        _tell_left_out(measured)
        return
    arms = f"{measured.given} given ({measured.delivered} of them delivered) and {measured.held_out} held out"
    say(f"Packets {arms}. In the {count_of(measured.steps, 'step')} after:")
    print_table(
        ("what happened", "given", "held out", "difference", "95 % interval", ""),
        (_row(one) for one in measured.outcomes),
    )
    say(f"Differences are in percentage points. Too few: fewer than {measured.fewest} of either kind.")
    _tell_left_out(measured)


def _tell_left_out(measured: Measured) -> None:
    """Packets that were drawn and are not in the table."""
    for why, number in measured.left_out.items():
        say(f"Not compared: {count_of(number, 'packet')}, as {WHY[why]}.")


def _row(one: Difference) -> tuple[str, ...]:
    interval = "" if one.low is None or one.high is None else f"{_points(one.low)} to {_points(one.high)}"
    difference = "" if one.difference is None else _points(one.difference)
    return LABELS[one.outcome], _share(one.given), _share(one.held_out), difference, interval, SAID[one.verdict]


def _share(share: Share) -> str:
    return "-" if share.value is None else f"{share.happened} of {share.of} ({share.value:.0%})"


def _points(value: float) -> str:
    """A difference of shares in percentage points."""
    return f"{100 * value:+.0f}"
