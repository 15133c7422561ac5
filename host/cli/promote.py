"""`prepare` and `promote`: a person's yes becomes a plan, and the plan becomes files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from governance.team.contracts.promoting import ApplyResult, PrepareRequest, PromotionPlan, Review
from governance.team.errors import Kind
from host.cli.output import count_of, json_option, say, show_json, unbroken, workspace_option
from host.cli.review_team import KINDS
from host.cli.team_calls import asked, document, short, told
from host.namespace import SCRIPT

SHORTEST = 8  # characters of a digest that name one


@click.command()
@click.option("--request", metavar="FILE", help="`approval.prepareRequest` of a review, as JSON; - is standard input.")
@click.option("--kind", type=click.Choice(sorted(KINDS)), help="With --approval: what was reviewed.")
@click.option("--approval", metavar="DIGEST", help="The approval that the review showed; its beginning is enough.")
@click.option("--candidate", "candidates", multiple=True, metavar="ID", help="With --approval: as in the review.")
@workspace_option
@json_option
def prepare(workspace: Path, as_json: bool, **given: Any) -> None:
    """Record that you said yes to a review, and make a plan of it.

    What is not as it was reviewed is refused, and nothing is recorded then.

    \b
    Examples:
      remora-pre prepare --kind entry --approval 7be10c44a9d2
      remora-pre prepare --request request.json
    """
    if bool(given["request"]) is bool(given["approval"]):
        raise click.UsageError("Give --kind and --approval as `review` shows them, or the document with --request.")
    request = document(given["request"]) if given["request"] else _reviewed(given, workspace)
    plan = asked("team.prepare", workspace, {"document": request}, PromotionPlan)
    if as_json:
        show_json(plan)
        return
    bound = f"approval {short(plan.approval_digest)}" if plan.approval_digest else f"plan digest {plan.plan_digest}"
    say(f"{plan.plan_id}  {plan.state}  {bound}")
    for one in plan.per_file:
        say(f"  {one.operation}  {unbroken(one.target_path)}")
    digest = "" if plan.approval_digest else f" --plan-digest {plan.plan_digest}"
    say(f"Write it with: {SCRIPT} promote --plan {plan.plan_id}{digest}")


@click.command()
@click.option("--plan", "plan_id", required=True, metavar="PLAN", help="The plan's id.")
@click.option("--plan-digest", metavar="DIGEST", help="Of a plan that was prepared without an approval.")
@workspace_option
@json_option
def promote(plan_id: str, plan_digest: str | None, workspace: Path, as_json: bool) -> None:
    """Write the files of a plan: all of them, or none.

    Only files below the repository's memory folder are written. Nothing is staged or committed in git: that is yours.

    \b
    Example:
      remora-pre promote --plan plan-0123456789abcdef0123456789abcdef
    """
    params = {"planId": plan_id} | ({"planDigest": plan_digest} if plan_digest else {})
    done = asked("team.promote", workspace, params, ApplyResult)
    if as_json:
        show_json(done)
        return
    again = " before" if done.idempotent else ""
    say(f"{done.state}{again}  {count_of(len(done.files), 'file')}")
    for one in done.files:
        say(f"  {one.operation}  {unbroken(one.target_path)}")
    for path in done.recovered:
        say(f"Put aside: {unbroken(path)}")
    for text in (done.problem, done.note):
        if text:
            say(text)


def _reviewed(given: Mapping[str, Any], workspace: Path) -> PrepareRequest:
    """The request of the review whose approval is named. Raises UsageError, and Refused when it is another by now."""
    named = given["approval"].rstrip("…")  # as the review shows its beginning
    if given["kind"] is None or len(named) < SHORTEST:
        raise click.UsageError(f"Give --kind, and at least {SHORTEST} characters of the approval.")
    found = asked("team.review", workspace, {"kind": given["kind"], "candidateIds": given["candidates"]}, Review)
    if found.approval is None or not found.approval.digest.startswith(named):
        problem = f"What is staged is not what the approval {named[:16]} was shown for."
        raise told(Kind.APPROVAL_MISMATCH, problem, f"Look again: {SCRIPT} review --kind {given['kind']}")
    return found.approval.prepare_request
