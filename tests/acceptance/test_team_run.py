"""team.md 15, item 30: the unattended run is off by default, ends at staged, and nothing else asks a model."""

import ast
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import governance.team
import host.team
from governance.team.contracts.base import Call
from governance.team.contracts.rows import CandidateState
from governance.team.errors import Kind, TeamFault
from governance.team.running import RUNNER
from host.config import Config
from tests.support.clock import START
from tests.support.models import HTTP, KEY, FakeModel, Http
from tests.support.team_recall import a_request
from tests.support.team_running import Runner, a_draft, a_runner, promotions, stores

pytestmark = pytest.mark.promise("team-30")
ASKS = {"asking", "running"}  # the modules of the team workflow that may know of models
MODELS = ("governance.formation.calling", "governance.formation.answer", "host.models", "httpx2", "socket")


@pytest.fixture
async def runner(tmp_path: Path) -> AsyncIterator[Runner]:
    async with a_runner(tmp_path) as made:
        yield made


async def test_item_30_the_run_is_off_by_default(runner: Runner) -> None:
    assert Config().team.run is False
    runner.running = runner.as_set(enabled=Config().team.run)
    with pytest.raises(TeamFault) as fault:
        await runner.run(a_draft, stores)
    assert fault.value.kind is Kind.REQUEST_INVALID and "`run = true`" in fault.value.next_step
    assert runner.model.requests == [] and await runner.stage.states() == {}


async def test_item_30_turned_on_it_ends_at_staged_and_what_a_runner_prepares_is_refused(
    runner: Runner, tmp_path: Path
) -> None:
    done = await runner.run(a_draft, stores)
    (made,) = done.candidates
    assert made.state == CandidateState.STAGED
    before = sorted(path for path in runner.stage.root.rglob("*") if path.is_file())
    desk = promotions(runner.stage, tmp_path).desk
    request = await desk.asked("entry", [made.candidate_id])
    unattended = Call(principal=RUNNER, holder="runner:terminal", now=START)
    with pytest.raises(TeamFault) as fault:
        await desk.prepare(request, unattended)
    assert fault.value.kind is Kind.REVIEWER_KIND
    assert (await runner.stage.candidate(made.candidate_id)).state is CandidateState.STAGED
    assert all(one.support == "unverified" for one in await runner.stage.assessments(made.candidate_id))
    assert sorted(path for path in runner.stage.root.rglob("*") if path.is_file()) == before


async def test_item_30_what_a_runner_promotes_is_refused(runner: Runner, tmp_path: Path) -> None:
    done = await runner.run(a_draft, stores)
    made = promotions(runner.stage, tmp_path)
    plan = await made.desk.prepare(await made.desk.asked("entry", [done.candidates[0].candidate_id]))
    unattended = Call(principal=RUNNER, holder="runner:terminal", now=START)
    assert (await made.refused(plan, call=unattended)).kind is Kind.REVIEWER_KIND


@pytest.mark.parametrize("http", HTTP.values(), ids=list(HTTP))
async def test_item_30_over_the_real_drivers_it_makes_two_calls_and_stages_what_they_say(
    runner: Runner, tmp_path: Path, http: Http
) -> None:
    (task,) = await runner.stage.tasks(holder="runner:terminal")
    said = "Number 1 is done by hand."
    statement = {"statementId": "s1", "text": said, "evidenceIds": [task.evidence_catalog[1].evidence_id]}
    draft = {"content": said, "type": "work_fact", "priority": 60, "confidence": "high", "scene": None}
    drafts = {"candidates": [draft | {"statements": [statement]}]}
    replies = (
        {"tool_calls": [{"name": "submit", "input": drafts, "id": "c1"}]},
        {"text": '```json\n{"decisions": []}\n```'},
    )
    with FakeModel(*replies) as model:
        call = runner.stage.call("terminal", "user")
        done = await runner.running.run(runner.stage.bound, call, a_request(), http.made(model, tmp_path))
    first, second = (json.dumps(one["body"]) for one in model.requests)
    (made,) = done.candidates
    assert (await runner.stage.candidate(made.candidate_id)).state is CandidateState.STAGED
    assert said in first and made.candidate_id in second
    assert not any(word in first + second for word in (KEY, str(runner.stage.root), "session-a"))


def test_item_30_no_other_operation_knows_of_models_or_of_the_network() -> None:
    found = []
    for package in (governance.team, host.team):
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            if path.stem in ASKS or path.name in ("serving.py", "wiring.py"):  # these hand the run its model
                continue
            found += [f"{path.name}: {name}" for name in _imported(path) if name.startswith(MODELS)]
    assert found == []


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class _Heard:
    """What the interpreter itself says of connections, while somebody listens. A hook cannot be taken away again."""

    def __init__(self) -> None:
        self.listening = False
        self.events: list[str] = []
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: object) -> None:
        if self.listening and event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen"):
            self.events.append(f"{event} {arguments!r}")

    @contextmanager
    def listens(self) -> Iterator[list[str]]:
        self.events.clear()
        self.listening = True
        try:
            yield self.events
        finally:
            self.listening = False


HEARD = _Heard()


async def test_item_30_without_it_no_operation_opens_a_connection(runner: Runner, tmp_path: Path) -> None:
    stage, made = runner.stage, promotions(runner.stage, tmp_path)
    await runner.trust()
    with HEARD.listens() as heard:
        staged = await stage.staged("Number 1 is done by hand.")
        plan = await made.planned(*staged)
        assert (await made.promote(plan)).applied
        asked = await runner.consolidating.synthesize(stage.bound, stage.call(), "incremental")
        assert asked.task is not None and len(asked.task.entries) == 1
    assert heard == []
    assert runner.model.requests == []
