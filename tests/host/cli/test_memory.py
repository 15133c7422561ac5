"""A person's verbs on memories: what is asked of the daemon, and what is said of its answer."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from host.cli import drafts, memory
from host.cli.main import main
from host.client import Refused
from recall.contracts import Flag, MemoryKind, MemoryRecord, RecordState, Risk, Status
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory, a_memory_id
from tests.support.prompt import Prompt

ID = a_memory_id(1)
LEGACY = a_memory("one", memory_id=ID, state=RecordState.LEGACY)
GOT = {"record": a_memory("Use make check.", memory_id=ID, title="Tests", tags=("ci",)), "locator": None}


def run(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str, said: str = ""
) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, memory, {"health": {"ready": True}} | answers)
    return CliRunner().invoke(main, list(arguments), input=said), daemon


def test_list_walks_the_pages_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    page = {"records": [a_memory("one", memory_id=ID)], "next": "more"}

    result, daemon = run(monkeypatch, {"memory.list": page}, "list", "--limit", "2")

    assert [params.get("after") for method, params in daemon.asked if method == "memory.list"] == [None, "more"]
    assert result.output.count(ID) == 2 and "more than 2" in result.output


def test_a_list_asks_only_for_what_is_wanted_and_goes_on_over_pages_that_hold_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = iter([{"records": [], "next": "more"}, {"records": [a_memory("one", memory_id=ID)], "next": None}])
    daemon = answering(monkeypatch, memory, {"health": {"ready": True}, "memory.list": lambda _: next(pages)})
    options = ["--kind", "semantic", "--scope", "user", "--status", "active", "--pinned", "--muted"]

    result = CliRunner().invoke(main, ["list", *options])

    wanted = {"kinds": ["semantic"], "scopes": ["User"], "statuses": ["active"], "pinned": True, "muted": True}
    asked = [params for method, params in daemon.asked if method == "memory.list"]
    assert [params.get("after") for params in asked] == [None, "more"]
    assert all(wanted.items() <= params.items() for params in asked)
    assert ID in result.output


def test_a_narrowed_list_that_is_empty_does_not_say_that_there_are_no_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.list": {"records": [], "next": None}}, "list", "--muted")

    assert result.output == "No memory is like that.\n"


def test_a_list_shows_what_is_pinned_or_muted(monkeypatch: pytest.MonkeyPatch) -> None:
    record = a_memory("one", memory_id=ID, flags=(Flag.MUTED,), pinned=True)

    result, _ = run(monkeypatch, {"memory.list": {"records": [record], "next": None}}, "list")

    assert "active, muted, pinned" in result.output


def test_a_list_tells_memories_of_one_title_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    titled = [a_memory(text, memory_id=ID, title="Deploys") for text in ("Roll back by tag.", "The canary goes first.")]

    result, _ = run(monkeypatch, {"memory.list": {"records": titled, "next": None}}, "list")

    assert "Deploys: Roll back by tag." in result.output and "Deploys: The canary goes first." in result.output


def test_a_list_shows_what_keeps_a_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    kept_back = a_memory("one", memory_id=ID, flags=(Flag.QUARANTINED,))

    result, _ = run(monkeypatch, {"memory.list": {"records": [kept_back], "next": None}}, "list")

    assert "active, quarantined" in result.output


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_list_says_beside_the_answer_that_some_places_could_not_be_used(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    answers = {
        "memory.list": {"records": [a_memory("one", memory_id=ID)], "next": None},
        "health": {"ready": True, "memory": {"problemCount": 2}},
    }

    result, _ = run(monkeypatch, answers, "list", *arguments)

    assert result.stderr == "2 places in memory files, of all workspaces, could not be used. See: remora-pre status\n"
    assert ID in result.stdout


def test_a_list_of_sound_files_says_nothing_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.list": {"records": [], "next": None}}, "list")

    assert result.stderr == ""


@pytest.mark.parametrize(
    ("answers", "arguments"),
    [
        ({"memory.list": {"records": [LEGACY], "next": None}}, ["list"]),
        ({"memory.get": {"record": LEGACY, "locator": None}}, ["show", ID]),
    ],
)
def test_a_memory_without_a_marker_of_its_own_is_shown_as_such(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], arguments: list[str]
) -> None:
    result, _ = run(monkeypatch, answers, *arguments)

    assert "active, legacy" in result.output


def test_an_empty_list_says_how_to_keep_something(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.list": {"records": [], "next": None}}, "list")

    assert 'remora-pre remember "' in result.output


@pytest.mark.parametrize(("last", "place"), [(6, "lines 4 to 6"), (4, "line 4")])
def test_show_prints_the_text_and_where_it_stands(monkeypatch: pytest.MonkeyPatch, last: int, place: str) -> None:
    locator = {
        "memoryId": ID,
        "anchorId": f"memory:{ID}",
        "sourceFile": "/notes/2026-01.md",
        "sourceVersion": 2,
        "lineStart": 4,
        "lineEnd": last,
        "byteStart": 1,
        "byteEnd": 2,
        "recordDigest": "d",
    }

    result, _ = run(monkeypatch, {"memory.get": GOT | {"locator": locator}}, "show", ID)

    assert "Tests\nUse make check.\n" in result.output
    assert f"/notes/2026-01.md, {place}, version 2" in result.output


def test_show_tells_what_else_is_known_of_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    record = a_memory(
        "Use tox.",
        memory_id=ID,
        created_at=0,
        status=Status.SUPERSEDED,
        superseded_by=a_memory_id(2),
        valid_from=1767690900000,
        expires_at=1767690959901,
        flags=(Flag.MUTED,),
        pinned=True,
    )

    result, _ = run(monkeypatch, {"memory.get": {"record": record, "muted": True, "sightings": 3}}, "show", ID)

    assert "superseded, pinned, from user\n" in result.output
    assert "kept at an unknown time, said 3 times\n" in result.output
    for line in (f"superseded by {a_memory_id(2)}", "holds from 2026-01-06", "expires 2026-01-06", "flags: muted"):
        assert f"\n{line}" in result.output


@pytest.mark.parametrize(
    ("arguments", "method", "sent", "answer", "said"),
    [
        (["pin"], "memory.pin", {"pinned": True}, {"pinned": True, "changed": True}, "It is pinned now.\n"),
        (["pin", "--off"], "memory.pin", {"pinned": False}, {"pinned": False, "changed": True}, "not pinned now"),
        (["pin"], "memory.pin", {"pinned": True}, {"pinned": True, "changed": False}, "was pinned already"),
    ],
)
def test_a_memory_is_pinned_and_let_go_again(
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    method: str,
    sent: dict[str, Any],
    answer: dict[str, Any],
    said: str,
) -> None:
    result, daemon = run(monkeypatch, {method: {"memoryId": ID} | answer}, arguments[0], ID, *arguments[1:])
    as_json, _ = run(monkeypatch, {method: {"memoryId": ID} | answer}, *arguments, ID, "--json")

    assert daemon.params(method) == {"memoryId": ID, "workspace": str(Path().resolve())} | sent
    assert result.exit_code == 0 and said in result.output
    assert json.loads(as_json.output)["changed"] is answer["changed"]


def test_forget_shows_the_memory_and_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"memory.get": GOT, "memory.forget": {"forgotten": True, "packetsPurged": 1}}

    refused, asked = run(monkeypatch, answers, "forget", ID, said="n\n")
    agreed, _ = run(monkeypatch, answers, "forget", ID, said="y\n")

    assert refused.exit_code == 1 and "Use make check." in refused.output
    assert [method for method, _ in asked.asked] == ["memory.get"]
    assert agreed.exit_code == 0 and "Packets purged: 1." in agreed.output


def test_what_is_forgotten_leaves_no_draft_behind(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    answers = {"memory.forget": {"forgotten": True, "packetsPurged": 0}}
    left = [drafts.keep(ID, "Use make check."), drafts.keep(ID, "Use make all.")]
    other = drafts.keep(a_memory_id(2), "Owls sleep.")

    said, _ = run(monkeypatch, answers, "forget", ID, "--yes")

    assert said.output == "Forgotten. Packets purged: 0. Drafts removed: 2.\n"
    assert not any(file.exists() for file in left) and other.exists()


def test_a_memory_that_is_gone_already_is_not_said_to_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"memory.forget": {"forgotten": False}}

    said, _ = run(monkeypatch, answers, "forget", ID, "--yes")
    as_json, _ = run(monkeypatch, answers, "forget", ID, "--yes", "--json")

    assert said.exit_code == as_json.exit_code == 1
    assert "was not found from here" in said.output and '"forgotten": false' in as_json.stdout


def test_what_the_daemon_refuses_ends_with_1_and_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    error = Refused.__new__(Refused)
    Exception.__init__(error, "No memory is visible from here. List them.")

    result, _ = run(monkeypatch, {"memory.get": error}, "show", ID)

    assert (result.exit_code, result.output) == (1, "Error: No memory is visible from here. List them.\n")


def test_json_of_a_record_has_wire_names(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"memory.get": GOT}, "show", ID, "--json")

    shown = json.loads(result.output)
    assert shown["record"]["memoryId"] == ID
    assert msgspec.convert(shown["record"], MemoryRecord) == GOT["record"]


def test_with_a_real_daemon_memories_are_pinned_muted_listed_and_forgotten(prompt: Prompt) -> None:
    pinned, other = prompt.keep("Always sign commits."), prompt.keep("The queue drops old jobs.", "--kind", "episodic")

    assert prompt.ok("pin", pinned) == "It is pinned now.\n" and prompt.ok("pin", pinned) == "It was pinned already.\n"
    assert prompt.ok("mute", other) == "It is muted now.\n"

    assert prompt.listed("--pinned") == [pinned] and prompt.listed("--muted") == [other]
    assert prompt.listed("--kind", "episodic", "--scope", "workspace") == [other]
    assert prompt.json("show", other)["muted"] is True
    assert prompt.ok("mute", other, "--off") == "It is not muted now.\n" and prompt.listed("--muted") == []
    assert prompt.ok("mute", other, "--off") == "It was not muted.\n"
    assert prompt.ok("pin", pinned, "--off") == "It is not pinned now.\n" and prompt.listed("--pinned") == []
    assert "Forgotten." in prompt.ok("forget", pinned, said="y\n")
    gone = prompt.run("show", pinned)
    assert gone.exit_code == 1 and "remora-pre list" in gone.output


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, ""),
        ({"flags": (Flag.CORRECTED,)}, f"review {ID}"),
        ({"flags": (Flag.QUARANTINED,)}, f"review {ID}"),
        ({"flags": (Flag.CORRECTED,), "status": Status.ARCHIVED}, ""),
        ({"kind": MemoryKind.PROCEDURAL, "risk_level": Risk.HIGH}, "remora-pre approve"),
        ({"risk_level": Risk.HIGH}, ""),
    ],
)
def test_show_says_what_waits_for_a_persons_word(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], said: str
) -> None:
    record = a_memory("one", memory_id=ID, **fields)
    result, _ = run(monkeypatch, {"memory.get": {"record": record, "locator": None}}, "show", ID)
    assert result.exit_code == 0
    told = [line for line in result.output.splitlines() if " review " in line or line.endswith(" approve")]
    assert len(told) == bool(said) and all(said in line for line in told)
