"""`attention`: how often it speaks in a workspace, and what people's feedback proposes. Nothing changes by itself."""

from collections.abc import Iterator
from pathlib import Path

import click

from host.cli.link import ask
from host.cli.memory_answers import Advice, Chosen, Proposal, WorkspaceStanding
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.tables import print_table
from host.cli.wording import known_folder, present_folder
from host.namespace import SCRIPT
from recall.contracts import Attention

MEANING = {
    Attention.QUIET: "on failures and prompts alone, on more evidence",
    Attention.NORMAL: "also on what the agent says, as calibrated",
    Attention.EAGER: "on less evidence: finds more, and is wrong more often",
}
COLUMNS = "Measured on recorded sessions: right, the share of what was handed over; found, of what would have helped."


@click.command()
@click.argument("point", required=False, type=click.Choice([str(one) for one in Attention]))
@workspace_option
@json_option
def attention(point: str | None, workspace: Path, as_json: bool) -> None:
    """Show or choose how often it speaks in this workspace.

    A choice holds from the next step on. Without one, what holds is shown, with each point as measured and what the
    feedback given here proposes.

    \b
    Examples:
      remora-pre attention
      remora-pre attention quiet
    """
    if point is not None:
        chosen = ask("workspace.set", {"workspace": present_folder(workspace), "attention": point}, Chosen)
        if as_json:
            show_json(chosen)
        else:
            say(f"{chosen.attention.capitalize()} in this workspace, from the next step on.")
        return
    found = ask("workspace.get", {"workspace": known_folder(workspace)}, WorkspaceStanding)
    if as_json:
        show_json(found)
        return
    say(f"{found.attention.capitalize()} in this workspace{'' if found.chosen else ', by default'}.")
    rows = [
        (
            ("* " if one == found.attention else "  ") + one,
            f"{figures.precision:.0%}",
            f"{figures.recall:.0%}",
            f"{figures.false_per_100:.1f}",
            MEANING[one],
        )
        for one, figures in found.points.items()
    ]
    print_table(("  point", "right", "found", "wrong a 100 steps", ""), rows)
    say(COLUMNS)
    for line in advice_lines(found.advice, found.attention):
        say(line)


def advice_lines(advice: Advice, now: Attention) -> Iterator[str]:
    """What the feedback of a workspace comes to, and how to follow it; nothing without feedback."""
    if advice.opinions:  # on packets and on memories: each counts with the last word on it
        yield f"Feedback here: {', '.join(f'{count} {opinion}' for opinion, count in advice.opinions.items())}."
    for proposal in advice.proposals:
        yield f"{_why(proposal, advice, now)} {_how(proposal)}"


def _why(proposal: Proposal, advice: Advice, now: Attention) -> str:
    match proposal.kind:
        case "attention" if proposal.attention is not None:
            given = {point.attention: point for point in advice.points}
            here, there = given.get(now), given.get(proposal.attention)
            if here is None or there is None or there.given >= here.given:
                missed = count_of(advice.missed, "memory").replace("memorys", "memories")
                return f"{missed} should have come: {advice.reached} would clear the bar of {proposal.attention}."
            noise = f"{here.noise} of {count_of(here.given, 'packet')} were called noise"
            kept = f"{proposal.attention} would have given {there.given} of {here.given}"
            return f"{noise}: {kept}, {there.noise} of them noise."
        case "mute":
            return f"{proposal.memory_id} was called noise {proposal.count} times."
        case _:
            return f"{proposal.memory_id} was called wrong or harmful."


def _how(proposal: Proposal) -> str:
    match proposal.kind:
        case "attention":
            return f"To change: {SCRIPT} attention {proposal.attention}"
        case "mute":
            return f"To keep it back: {SCRIPT} mute {proposal.memory_id}"
        case _:
            return f"To look at it: {SCRIPT} show {proposal.memory_id}"
