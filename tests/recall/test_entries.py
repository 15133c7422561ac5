"""From bytes to rows: what is new is analysed, what moved only gets its place, what went is dropped."""

import msgspec

from recall.canonical import bytes_digest
from recall.contracts import Flag, Origin, Status
from recall.documents import Document, Unreadable
from recall.edits import append, render
from recall.entries import INDEXED, OPEN, FileChange, Guard, Known, Root, admitted, changed, unpack
from recall.markers import FileHome
from recall.team_entry import render as render_entry
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope
from tests.support.team_entries import an_entry

HOME = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=Origin.USER)
ONE, TWO = a_memory("One alpha alpha."), a_memory("Two.", memory_id=a_memory_id(2), title="Alpha", tags=("beta",))


def look(data: bytes, known: dict[str, Known] | None = None) -> FileChange:
    return changed(Document(data=data, stamp="now"), "before", HOME, known or {})


def known_of(change: FileChange) -> dict[str, Known]:
    return {one.memory_id: Known(row, one.mark, one.span) for row, one in enumerate(change.added, 10)}


def test_a_new_file_is_all_new() -> None:
    change = look(render(ONE, HOME) + render(TWO, HOME))

    assert [one.memory_id for one in change.added] == [ONE.memory_id, TWO.memory_id]
    assert (change.moved, change.dropped, change.stamp) == ((), (), "now")


def test_terms_are_counted_the_frequent_first_title_and_tags_with_them() -> None:
    one, two = look(render(ONE, HOME) + render(TWO, HOME)).added

    assert one.words == "alpha\none" and one.counts == bytes([2]) and one.length == 3
    assert (
        set(two.words.split()) == {"two", "alpha", "beta"}
        and two.words.startswith("alpha\n")
        and two.counts == bytes([2])
    )


def test_of_an_endless_record_the_beginning_can_be_found() -> None:
    endless = a_memory("alpha " + "w " * INDEXED + "omega")

    (one,) = look(render(endless, HOME)).added

    assert one.body.endswith(b"omega") or b"omega" in one.body
    assert "alpha" in one.words and "omega" not in one.words


def test_an_append_leaves_earlier_rows_alone() -> None:
    data = render(ONE, HOME)
    after = append(data, HOME, TWO)
    assert isinstance(after, bytes)

    change = look(after, known_of(look(data)))

    assert [one.memory_id for one in change.added] == [TWO.memory_id]
    assert (change.moved, change.dropped) == ((), ())


def test_a_record_that_only_moved_keeps_its_row() -> None:
    known = known_of(look(render(ONE, HOME) + render(TWO, HOME)))

    change = look(b"# Title\n\n" + render(TWO, HOME), known)

    assert change.added == () and [row for row, _ in change.moved] == [11] and change.dropped == (10,)


def test_any_change_of_text_or_attributes_makes_a_new_row() -> None:
    known = known_of(look(render(ONE, HOME)))

    for other in (a_memory("One alpha alpha!"), a_memory("One alpha alpha.", pinned=True)):
        change = look(render(other, HOME), known)
        assert len(change.added) == 1 and change.dropped == (10,)


def test_only_active_records_without_a_barring_flag_are_eligible() -> None:
    def eligible(**fields: object) -> bool:
        return look(render(a_memory(**fields), HOME)).added[0].eligible

    assert eligible() and eligible(flags=(Flag.MUTED, Flag.TRUNCATED))
    assert not any(eligible(flags=(flag,)) for flag in (Flag.QUARANTINED, Flag.RECHECK, Flag.CORRECTED))
    assert not any(eligible(status=status) for status in Status if status is not Status.ACTIVE)


def test_a_file_that_cannot_be_read_or_used_drops_its_records_and_says_why() -> None:
    known = known_of(look(render(ONE, HOME)))

    unreadable = changed(Unreadable(reason="no-access"), "s", HOME, known)
    unusable = look(b"caf\xe9", known)

    assert (unreadable.refused, unreadable.dropped) == ("no-access", (10,))
    assert (unusable.refused, unusable.dropped) == ("not-utf-8", (10,))


def test_what_a_person_let_through_is_proposed_though_it_is_flagged_and_nothing_else_is() -> None:
    ids = [f"mem_{number * 32}" for number in "1234"]
    flags = ["", ' flags=["quarantined"]', ' flags=["corrected"]', ' status="archived"']
    data = "".join(
        f"<!-- memory:{one}{flag} -->\nA poisoned one, {one}.\n" for one, flag in zip(ids, flags, strict=True)
    )
    found, wary = Document(data=data.encode(), stamp="now"), Guard("w", lambda text: "poison" in text)
    read = changed(found, "before", HOME, {}, wary)
    assert [one.eligible for one in read.added] == [0, 0, 0, 0]

    known = {one.memory_id: one.digest for one in read.added}
    let = Guard("w", lambda text: True, lambda memory_id, digest: known.get(memory_id) == digest)
    assert [bool(one.eligible) for one in admitted(read, let).added] == [True, True, False, False]
    assert admitted(read, Guard("w", lambda text: True)) is read
    other = Guard("w", lambda text: True, lambda memory_id, digest: digest == "another")
    assert admitted(read, other) is read


def test_a_record_that_the_guard_keeps_out_is_indexed_but_never_proposed() -> None:
    guard = Guard("words", lambda text: "poison" in text)
    data = (
        b"<!-- memory:mem_"
        + b"1" * 32
        + b" -->\nA plain note.\n<!-- memory:mem_"
        + b"2" * 32
        + b" -->\nA poisoned one.\n"
    )

    change = changed(Document(data=data, stamp="now"), "before", HOME, {}, guard)

    assert [entry.eligible for entry in change.added] == [True, False]


# ----------------------------------------------------------------------------------------- entries of a repository

ENTRY_HOME = FileHome(
    path="/r/.m/entries/a.md", relative="entries/a.md", scope=HOME.scope, origin=Origin.IMPORTED, top="/r"
)
ENTRY = render_entry(an_entry())
VOUCHING = Guard(vouches=lambda workspace, digest: (workspace, digest) == (HOME.scope.key, bytes_digest(ENTRY)))


def look_at_entry(data: bytes, known: dict[str, Known] | None = None, home: FileHome = ENTRY_HOME) -> FileChange:
    return changed(Document(data=data, stamp="s"), "s", home, known or {})


def test_an_entry_is_a_strangers_word_until_somebody_vouches_for_its_bytes() -> None:
    change = look_at_entry(ENTRY)

    (told,), (reviewed,) = change.added, admitted(change, VOUCHING).added
    assert (unpack(told.body).origin, told.priority) == (Origin.IMPORTED, None)
    assert (unpack(reviewed.body).origin, reviewed.priority) == (Origin.REVIEWED, 60)
    assert (told.mark, told.words, told.digest) == (reviewed.mark, reviewed.words, reviewed.digest)
    assert admitted(change, OPEN) is change


def test_where_the_repository_is_trusted_nobody_need_vouch() -> None:
    trusted = msgspec.structs.replace(ENTRY_HOME, origin=Origin.REVIEWED)

    change = look_at_entry(ENTRY, home=trusted)

    assert unpack(change.added[0].body).origin is Origin.REVIEWED and change.vouched == ()


def test_any_byte_of_an_entry_makes_it_another_though_its_record_says_the_same() -> None:
    first = look_at_entry(ENTRY)
    known = {one.memory_id: Known(10, one.mark, one.span) for one in first.added}

    same = look_at_entry(ENTRY, known)
    other = look_at_entry(ENTRY.replace(b"provenance_strength: direct", b"provenance_strength: observed"), known)

    assert (same.added, same.vouched, same.dropped) == ((), (), ())
    assert other.dropped == (10,) and [one.digest for one in other.added] == [first.added[0].digest]
    assert admitted(other, VOUCHING) is other


def test_words_of_a_tag_are_screened_as_those_of_a_text() -> None:
    guard = Guard("words", lambda text: "poison" in text)

    change = changed(Document(data=render_entry(an_entry(scene="poison")), stamp="s"), "s", ENTRY_HOME, {}, guard)

    assert [one.eligible for one in change.added] == [0]


def test_a_repositorys_root_is_shared_whether_it_is_trusted_or_not() -> None:
    roots = [Root(path="/m", scope=HOME.scope, origin=origin) for origin in Origin]

    assert [root.origin for root in roots if root.shared] == [Origin.REVIEWED, Origin.IMPORTED]
