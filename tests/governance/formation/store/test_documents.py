"""Rows of documents and of changes come back as they went in, and one that cannot be read is no absence."""

import sqlite3
from typing import Any

import msgspec
import pytest

from governance.formation.applying import ChangeSet, ChangeState, Journal
from governance.formation.contracts import (
    AtomEvidence,
    ChangeOp,
    DocumentChange,
    DocumentVersion,
    FileStep,
    KeptDocument,
    Layer,
)
from governance.formation.errors import StateFault
from governance.formation.store import documents as store
from governance.migrations import queue_steps
from governance.review import Act, Decision, Principal
from tests.support.clock import START
from tests.support.drafting import a_scene, an_atom
from tests.support.fakes import FakeDatabase
from tests.support.noting import SCOPE

SCENE = a_scene(1)
KEPT = KeptDocument(
    document_id=SCENE.id,
    kind=SCENE.kind,
    name=SCENE.name,
    version=2,
    digest="d" * 64,
    file="scenes/scene-1.md",
    updated_at=START,
    meta=SCENE.meta,
    evidence=SCENE.evidence,
    item_id="chg_1",
    scene_versions=(DocumentVersion(id="doc_x", version=1),),
)
DECISION = Decision(actor=Principal.HUMAN, kind=Act.KEEP, at=START, expected_revision=1, reason="because")


def a_change(item_id: str = "chg_1", **fields: Any) -> ChangeSet:
    change = DocumentChange(
        op=ChangeOp.CREATE,
        document_id=SCENE.id,
        before=(),
        after=SCENE,
        evidence=(AtomEvidence(id=an_atom().id, version=2),),
        rationale="So.",
    )
    given = {
        "item_id": item_id,
        "workspace_key": SCOPE,
        "run_id": "r1",
        "layer": Layer.L2,
        "changes": (change,),
        "read_set": (DocumentVersion(id="doc_x", version=3),),
        "at": START,
    } | fields
    return ChangeSet(**given)


@pytest.fixture
def connection() -> sqlite3.Connection:
    return FakeDatabase(queue_steps()).connection


def test_a_document_comes_back_whole(connection: sqlite3.Connection) -> None:
    store.put(connection, SCOPE, KEPT)
    later = msgspec.structs.replace(KEPT, version=3, item_id="")
    store.put(connection, SCOPE, later)
    store.put(connection, "ws_other", KEPT)

    assert store.rows(connection, SCOPE) == (later,) and store.rows(connection, "ws_other") == (KEPT,)
    assert store.rows(connection, "ws_none") == ()


def test_a_change_comes_back_whole_with_what_finishes_it(connection: sqlite3.Connection) -> None:
    earlier = Journal(steps=(), rows=(KEPT,), former=(), then=ChangeState.APPLIED, decision=DECISION)
    step = FileStep(file="scenes/a.md", before=None, after="words 中\n")
    journal = Journal(
        steps=(step,), rows=(KEPT,), former=(), then=ChangeState.WAITING, decision=DECISION, text="t", earlier=earlier
    )
    store.put_change(connection, a_change())
    assert store.change(connection, "chg_1") == a_change() and store.change(connection, "chg_2") is None

    begun = a_change(state=ChangeState.APPLYING, journal=journal)
    store.move(connection, begun)

    assert store.change(connection, "chg_1") == begun and store.applying(connection) == (begun,)
    store.move(connection, a_change(state=ChangeState.APPLIED))
    assert store.applying(connection) == ()


def test_proposed_again_it_holds_for_what_was_read_now_unless_it_was_applied(connection: sqlite3.Connection) -> None:
    store.put_change(connection, a_change())
    again = a_change(run_id="r2", read_set=(DocumentVersion(id="doc_x", version=9),), at=START + 1)
    store.put_change(connection, again)
    assert store.change(connection, "chg_1") == again

    store.move(connection, msgspec.structs.replace(again, state=ChangeState.APPLIED))
    store.put_change(connection, a_change())
    kept = store.change(connection, "chg_1")
    assert kept is not None and kept.run_id == "r2"


def test_what_else_a_run_and_a_document_have(connection: sqlite3.Connection) -> None:
    for item_id, fields in (
        ("chg_1", {}),
        ("chg_2", {}),
        ("chg_3", {"run_id": "r2"}),
        ("chg_4", {"workspace_key": "w"}),
    ):
        store.put_change(connection, a_change(item_id, **fields))
    store.move(connection, a_change("chg_2", state=ChangeState.APPLIED))

    assert store.of_run(connection, SCOPE, "r1") == {"chg_1", "chg_2"}
    assert store.others(connection, a_change("chg_1")) == ("chg_3",)


def test_what_rests_on_a_forgotten_memory_is_deleted_with_its_words(connection: sqlite3.Connection) -> None:
    store.put_change(connection, a_change())
    store.put(connection, SCOPE, KEPT)

    assert store.forget(connection, ["note_else"]) == ()
    assert store.forget(connection, ["note_else", an_atom().id]) == ("chg_1",)
    assert store.change(connection, "chg_1") is None
    assert store.resting_on(connection, [SCENE.evidence[0].id]) == ((SCOPE, "Scene 1"),)
    assert store.resting_on(connection, ["note_else"]) == ()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("document", "meta", "{"), ("document", "kind", "poem"), ("document_change", "changes", "[1]")],
)
def test_a_row_that_cannot_be_read_is_no_absence(
    connection: sqlite3.Connection, table: str, column: str, value: str
) -> None:
    store.put(connection, SCOPE, KEPT)
    store.put_change(connection, a_change())
    connection.execute(f"UPDATE {table} SET {column} = ?", (value,))

    with pytest.raises(StateFault) as corrupt:
        (store.rows if table == "document" else store.change)(connection, SCOPE if table == "document" else "chg_1")

    assert corrupt.value.code == "state-corrupt"
