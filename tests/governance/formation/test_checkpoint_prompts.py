"""What is sent: fenced data, days as the judge counts them, help within bounds, and one tool that must be called."""

import json
import re
from datetime import UTC, timedelta, timezone
from typing import Any

from governance.formation.checkpoint_prompts import LONGEST_HELP, Asked, Found, Prompts
from governance.formation.contracts import Gap, GapState, ModelRequest
from governance.formation.projecting import evidence
from governance.formation.prompts import PromptPolicy
from tests.support.builders import WORKSPACE
from tests.support.checkpoints import AT, said

ZONE = timezone(timedelta(hours=14))


def prompts(additions: PromptPolicy | None = None, **fields: Any) -> Prompts:
    given = {"host": "claude-code", "workspace": WORKSPACE, "zone": ZONE, "timeout_ms": 60_000} | fields
    return Prompts(additions or PromptPolicy(), **given)


def rows(request: ModelRequest) -> dict[str, list[dict[str, Any]]]:
    """The material by its title."""
    content = request.messages[0].content
    parts = re.findall(
        r'^(\w+):\n<material mark="(\w+)">\n(.*?)\n</material mark="\2">', content, re.MULTILINE | re.DOTALL
    )
    return {title: [json.loads(line) for line in body.splitlines()] for title, _, body in parts}


def test_a_proposal_is_asked_with_evidence_help_and_open_facts_each_in_its_fence() -> None:
    shown = list(evidence([said("Which day?", 1, role="assistant"), said("On Thursdays.", 2)]))
    gap = Gap(
        gap_id="gap_1", workspace_key=WORKSPACE, content="A fact.", state=GapState.OPEN, opened_at=1, changed_at=1
    )
    request = prompts().proposing(shown, [gap], None)
    found = rows(request)
    assert found["evidence"] == [
        {"sourceRef": "s-one#2", "written": found["evidence"][0]["written"], "text": "On Thursdays."}
    ]
    assert found["help"] == [{"assistantBefore": "s-one#2", "text": "Which day?"}]
    assert found["open"] == [{"gapId": "gap_1", "content": "A fact."}]
    assert (request.tool_choice, [tool.name for tool in request.tools]) == ("submit", ["submit"])
    assert request.timeout_ms == 60_000 and "second round" not in request.messages[0].content


def test_the_second_round_brings_what_was_found() -> None:
    shown = list(evidence([said("On Thursdays.", 9)]))
    found = (said("The gateway is Marrow.", 1), said("Noted.", 2, role="assistant"))
    help_ = rows(prompts().proposing(shown, [], Found(records=found)))["help"]
    assert [one.get("sourceRef") for one in help_] == ["s-one#1", None]
    assert "This is the second round" in prompts().proposing(shown, [], Found(records=())).messages[0].content


def test_days_are_those_of_the_zone() -> None:
    late = said("Today then.", 1, at=AT)
    (row,) = rows(prompts().proposing(list(evidence([late])), [], None))["evidence"]
    (utc,) = rows(prompts(zone=UTC).proposing(list(evidence([late])), [], None))["evidence"]
    assert re.match(r"\d{4}-\d\d-\d\d", row["written"]) and row["written"] != utc["written"]


def test_help_is_bounded_and_the_latest_is_kept() -> None:
    records = []
    for turn in range(60):
        records += [said("word " * 100, turn * 2, role="assistant"), said("On Thursdays.", turn * 2 + 1)]
    help_ = rows(prompts().proposing(list(evidence(records)), [], None))["help"]
    assert sum(len(one["text"]) for one in help_) <= LONGEST_HELP
    assert help_[-1]["assistantBefore"] == "s-one#119" and len(help_) < 60


def test_a_wording_is_asked_with_ids_and_quotes_alone() -> None:
    request = prompts().canonicalising([Asked(id="i1", quotes=(("on Thursdays", AT),))])
    (row,) = rows(request)["quotes"]
    assert row["id"] == "i1" and [quote["quote"] for quote in row["quotes"]] == ["on Thursdays"]


def test_the_nearest_addition_is_appended_and_named() -> None:
    wishes = PromptPolicy(
        user={"checkpoint-propose": "Users."}, agents={"claude-code": {"checkpoint-propose": "Agents."}}
    )
    made = prompts(wishes)
    assert made.propose.source == "agent" and "Agents." in made.propose.text and "Users." not in made.propose.text
    assert made.canonicalise.source == "built-in"
