"""`search`: a person finds memories by words, and with `--explain` sees how they were found."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from host.cli.link import ask
from host.cli.memory_answers import Explanation, Hit, Hits
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.tables import one_line, print_line
from host.cli.wording import folder, standing
from host.namespace import SCRIPT
from recall.contracts import ArmReport

UNREVIEWED = {"extracted": "extracted, not reviewed", "imported": "imported, not reviewed"}
LOADING = "loading"  # the shortfall of a source that starts, or reads memories for the first time


@click.command()
@click.argument("query")
@workspace_option
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many at most.")
@click.option("--explain", is_flag=True, help="Say what was looked for, where, and what each find is worth.")
@click.option("--all", "every", is_flag=True, help="Find what is handed to nobody, too, and what waits for you.")
@json_option
def search(query: str, workspace: Path, as_json: bool, **given: Any) -> None:
    """Find memories by words.

    What waits for review, was archived, superseded, said to be wrong or kept back by the screen is found with --all.

    \b
    Examples:
      remora-pre search "how do we run the tests"
      remora-pre search --explain "make check"
    """
    explain: bool = given["explain"]
    params = {"query": query, "workspace": folder(workspace), "limit": given["limit"], "explain": explain}
    params |= {"all": True} if given["every"] else {}
    found = ask("memory.search", params, Hits)
    if as_json:
        show_json(found)
        return
    if explain:
        for line in _looked(found.arms, found.explain or Explanation()):
            print_line((line, ""))
    for hit in found.hits:
        _show(hit)
        if explain:
            for line in _worth(hit):
                print_line((line, ""), indent=2)
    if explain and found.explain is not None and found.explain.filtered:
        say("Left out:")
        for left in found.explain.filtered:
            say(f"  {left.memory_id}  {left.reason}")
    if found.degraded:
        late = ", ".join(f"{arm.name} ({arm.shortfall})" for arm in found.arms if arm.shortfall)
        again = "; ask again in a moment" if any(arm.shortfall == LOADING for arm in found.arms) else ""
        say(f"Not every source answered: {late or f'see {SCRIPT} status'}. There may be more{again}.")
    for one in found.aside:
        print_line((one.id, "bold"), (f"  {one.reason}", ""))
        print_line((one_line(f"{one.title}: {one.text}" if one.title else one.text, 300), ""), indent=2)
    if not (found.hits or found.aside):
        say("No memory matches." if not found.degraded else "Nothing was found by those that did.")


def _show(hit: Hit) -> None:
    stands = standing(hit.status, hit.state, (*hit.flags, *(("pinned",) if hit.pinned else ())))
    trust = f"; {UNREVIEWED[hit.origin]}" if hit.origin in UNREVIEWED else ""
    print_line((hit.memory_id, "bold"), (f"  {hit.score:.2f}  {hit.kind}, {hit.scope.kind}, {stands}{trust}", ""))
    if hit.title:
        print_line((hit.title, ""), indent=2)
    print_line((one_line(hit.text, 300), ""), indent=2)


def _looked(arms: tuple[ArmReport, ...], explanation: Explanation) -> Iterator[str]:
    """What was looked for, and how each arm fared."""
    if explanation.terms:
        terms = ", ".join(f"{one.term} {one.records}" for one in explanation.terms)
        yield f"Records that hold each term, of {explanation.total}: {terms}"
    else:
        yield "No term of the query can be looked for: it has none, or common words alone."
    for arm in arms:
        fared = f": {arm.shortfall}" if arm.shortfall else ""
        yield f"Source {arm.name}: {count_of(arm.hits, 'hit')} in {arm.micros / 1000:.1f} ms{fared}"
    if len(arms) > 1:
        lexical = explanation.fusion.lexical
        yield f"Weights in a score: {lexical:.2f} lexical, {1 - lexical:.2f} the other sources together"


def _worth(hit: Hit) -> Iterator[str]:
    """Which terms a find holds, and what each arm gave it."""
    if hit.terms:
        yield f"matched: {', '.join(hit.terms)}"
    given = ", ".join(_given(name, score, hit.confidences) for name, score in sorted(hit.scores.items()))
    if given:
        yield given


def _given(name: str, score: float, confidences: Mapping[str, float]) -> str:
    sure = confidences.get(name)
    return f"{name} {score:.2f}" + ("" if sure is None else f" (confidence {sure:.2f})")
