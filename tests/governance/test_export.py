"""The audit for other programs: JSON lines that the chain covers to the byte, and a table."""

import csv
import hashlib
import json

import msgspec

from governance.chain import Row, chained
from governance.checkpoint import NOTHING, stored
from governance.contracts import Action, EvidenceKind, EvidenceTrace, Removal, VerdictTrace
from governance.export import HEADINGS, csv_headings, csv_line, first_line, json_line
from tests.support.builders import a_memory_id
from tests.support.entries import a_full_pass, an_entry


def a_row(entry: object) -> Row:
    _, row = chained(entry, "p" * 64)  # type: ignore[arg-type]
    return row


def test_a_json_line_emptied_of_its_digest_has_that_digest() -> None:
    for entry in (a_full_pass(audit_id="aud_1"), an_entry(audit_id="aud_2", note="Größe")):
        row = a_row(entry)
        told = json.loads(json_line(row))
        assert told["digest"] == row.digest
        told["digest"] = ""
        text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(text.encode()).hexdigest() == row.digest
        assert b"\n" not in json_line(row)


def test_fields_that_we_do_not_know_are_told_as_they_are_stored() -> None:
    row = a_row(an_entry())
    other = msgspec.structs.replace(row, entry=row.entry.replace(b'"note":null', b'"note":null,"older":[1, 2]'))

    assert b'"older":[1, 2]' in json_line(other)


def test_what_was_let_go_is_a_line_of_its_own() -> None:
    assert json.loads(first_line(stored(NOTHING)))["through"] == {"row": 0, "digest": "", "at": 0}


def cells(entry: object) -> dict[str, str]:
    (line,) = csv.reader([csv_line(a_row(entry))])
    return dict(zip(HEADINGS, line, strict=True))


def test_a_row_of_the_table_tells_a_pass() -> None:
    removed = VerdictTrace(
        action=Action.ALLOW, reason="clear", removed=(Removal(candidate_id=a_memory_id(3), reason="scope"),)
    )
    told = cells(a_full_pass(audit_id="aud_1", at=1_767_690_959_901, verdict=removed))

    assert csv_headings().split(",") == list(HEADINGS)
    assert (told["auditId"], told["at"]) == ("aud_1", "2026-01-06T09:15:59.901+00:00")
    assert (told["kind"], told["outcome"], told["reason"], told["step"]) == ("pass", "packet", "tool-failure", "3")
    assert (told["kept"], told["removed"]) == (a_memory_id(1), f"{a_memory_id(3)}:scope")
    assert (told["hits"], told["items"], told["bytes"], told["micros"]) == ("lexical:12", a_memory_id(), "412", "940")
    assert (told["claimId"], told["note"]) == ("", "")


def test_evidence_stands_by_kind_and_memory() -> None:
    trace = EvidenceTrace(kind=EvidenceKind.READ, memory_id=a_memory_id(), source_version=1, record_digest="0" * 64)

    assert cells(an_entry(evidence=(trace,)))["evidence"] == f"read:{a_memory_id()}"


def test_no_cell_is_a_formula_to_a_spreadsheet() -> None:
    assert cells(an_entry(note='=HYPERLINK("x")'))["note"] == '\'=HYPERLINK("x")'
    assert cells(an_entry(trigger="@SUM,\n1"))["trigger"] == "'@SUM,\n1"
