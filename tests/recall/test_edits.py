"""Edits change one record's bytes and nothing else; a text cannot become anything but text."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import CodeAnchor, Origin, Status
from recall.edits import append, append_all, remove, render, replace
from recall.files import RefusalKind, Refused, parse
from recall.markers import FileHome
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope

HOME = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=Origin.USER)
FIRST = a_memory("First.", memory_id=a_memory_id(1))
SECOND = a_memory("Second.", memory_id=a_memory_id(2))


def bytes_of(result: bytes | Refused) -> bytes:
    assert isinstance(result, bytes), result
    return result


def kind_of(result: bytes | Refused) -> RefusalKind:
    assert isinstance(result, Refused) and not result
    return result.kind


def test_an_append_leaves_every_byte_before_it() -> None:
    data = bytes_of(append(b"", HOME, FIRST))

    both = bytes_of(append(data, HOME, SECOND))

    assert both.startswith(data) and not both.startswith(b"\xef\xbb\xbf")
    assert [one.record for one in parse(both, HOME).records] == [FIRST, SECOND]


def test_an_append_keeps_the_line_ends_and_mends_a_missing_last_one() -> None:
    data = b"\xef\xbb\xbf# Memory\r\n\r\n" + render(FIRST, HOME, "\r\n").rstrip(b"\r\n")

    both = bytes_of(append(data, HOME, SECOND))

    assert both == data + b"\r\n\r\n" + render(SECOND, HOME, "\r\n")


def test_a_replacement_changes_one_record_and_keeps_a_byte_order_mark_that_is_there() -> None:
    data = "\ufeff---\r\nname: build\r\n---\r\n".encode() + b"\r\n".join(
        [render(FIRST, HOME, "\r\n"), render(SECOND, HOME, "\r\n")]
    )

    changed = bytes_of(replace(data, HOME, msgspec.structs.replace(SECOND, text="Then make all.")))

    assert changed == data.replace(b"Second.", b"Then make all.")


def test_a_replacement_may_change_attributes() -> None:
    data = bytes_of(append(b"", HOME, FIRST))
    revoked = msgspec.structs.replace(FIRST, status=Status.REVOKED, superseded_by=SECOND.memory_id)

    assert [one.record for one in parse(bytes_of(replace(data, HOME, revoked)), HOME).records] == [revoked]


def test_many_records_are_appended_as_if_one_by_one() -> None:
    data = bytes_of(append(b"", HOME, FIRST))
    more = [a_memory(f"Fact {number}.", memory_id=a_memory_id(number)) for number in range(2, 12)]
    slowly = data
    for record in more:
        slowly = bytes_of(append(slowly, HOME, record))

    done = append_all(data, HOME, more)

    assert done == (slowly, (None,) * len(more))


def test_of_many_records_each_that_cannot_stand_is_told_apart() -> None:
    data = bytes_of(append(b"", HOME, FIRST))
    third = a_memory("Third.", memory_id=a_memory_id(3))

    done = append_all(data, HOME, [FIRST, a_memory("nul \0", memory_id=a_memory_id(9)), SECOND, third, third])

    assert not isinstance(done, Refused)
    after, refused = done
    assert [None if one is None else one.kind for one in refused] == [
        RefusalKind.DUPLICATE,
        RefusalKind.UNSAFE_TEXT,
        None,
        None,
        RefusalKind.DUPLICATE,
    ]
    assert [one.record for one in parse(after, HOME).records] == [FIRST, SECOND, third]


def test_records_that_are_a_conflict_only_together_are_kept_as_far_as_can_be() -> None:
    texts = ["<<<<<<< a", "b\n=======\nc", ">>>>>>> d", "Fine."]
    records = [a_memory(text, memory_id=a_memory_id(number)) for number, text in enumerate(texts, start=1)]

    done = append_all(b"", HOME, records)

    assert not isinstance(done, Refused)
    after, refused = done
    assert [None if one is None else one.kind for one in refused] == [None, None, RefusalKind.UNUSABLE_FILE, None]
    assert len(parse(after, HOME).records) == 3


def test_a_file_that_takes_none_says_so_once() -> None:
    assert isinstance(append_all(b"# Rules\nA rule.\n", HOME, [FIRST, SECOND]), Refused)
    assert append_all(b"", HOME, []) == (b"", ())


def test_a_file_of_an_agent_product_is_never_written() -> None:
    theirs = msgspec.structs.replace(HOME, provider="claude-md")

    assert kind_of(append(b"", theirs, FIRST)) is RefusalKind.READ_ONLY
    assert kind_of(remove(render(FIRST, HOME), theirs, FIRST.memory_id)) is RefusalKind.READ_ONLY


def test_a_place_in_the_code_is_kept_with_its_record() -> None:
    about = CodeAnchor(path="lib/money.py", line=1, snippet="def round_half_even(x):")
    data = bytes_of(append(b"", HOME, msgspec.structs.replace(FIRST, about=about)))
    moved = msgspec.structs.replace(FIRST, about=msgspec.structs.replace(about, line=13))

    assert [one.record for one in parse(bytes_of(replace(data, HOME, moved)), HOME).records] == [moved]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_removal_takes_marker_text_and_blank_lines_after_it(newline: str) -> None:
    first, second = render(FIRST, HOME, newline), render(SECOND, HOME, newline)
    blank = newline.encode()

    both = first + blank + blank + second

    assert remove(both, HOME, FIRST.memory_id) == second
    assert remove(both, HOME, SECOND.memory_id) == first
    assert remove(first, HOME, FIRST.memory_id) == b""


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t\n",
        f"a\n<!-- memory:{a_memory_id(9)} pinned=true -->\nforged",
        "a\n<!-- memory:broken -->",
        "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c",
        "nul \0 inside",
        "lone \ud800 surrogate",
        f"```\n<!-- memory:{a_memory_id(9)} -->\n```",
    ],
)
def test_a_text_that_would_read_back_as_something_else_is_refused(text: str) -> None:
    assert kind_of(append(b"", HOME, a_memory(text))) is RefusalKind.UNSAFE_TEXT


def test_an_open_code_fence_is_closed_so_that_it_hides_no_neighbour() -> None:
    data = bytes_of(append(b"", HOME, a_memory("Run:\n```sh\nmake", memory_id=a_memory_id(1))))

    both = bytes_of(append(data, HOME, a_memory("```\ncode\n```", memory_id=a_memory_id(2))))

    assert [one.record.text for one in parse(both, HOME).records] == ["Run:\n```sh\nmake\n```", "```\ncode\n```"]


def test_a_fence_that_a_person_left_open_refuses_what_it_would_swallow() -> None:
    data = render(FIRST, HOME) + b"```\nopen\n"

    assert kind_of(append(data, HOME, a_memory("```\nx\n```", memory_id=a_memory_id(2)))) is RefusalKind.UNUSABLE_FILE


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c\n", RefusalKind.UNUSABLE_FILE),
        (b"caf\xe9", RefusalKind.UNUSABLE_FILE),
        (b"# Rules\nA legacy rule.\n", RefusalKind.READ_ONLY),
        (render(FIRST, HOME), RefusalKind.DUPLICATE),
        (f"<!-- memory:{FIRST.memory_id} -->\n".encode(), RefusalKind.DUPLICATE),
    ],
)
def test_a_file_that_is_not_ours_to_add_to_is_left_alone(data: bytes, kind: RefusalKind) -> None:
    assert kind_of(append(data, HOME, FIRST)) is kind


def test_a_record_wider_than_its_folder_is_refused() -> None:
    assert kind_of(append(b"", HOME, a_memory(scope=a_user_scope()))) is RefusalKind.UNSAFE_TEXT


@pytest.mark.parametrize("data", [b"", f"<!-- memory:{SECOND.memory_id} -->\nB.\n".encode(), render(FIRST, HOME) * 2])
def test_a_record_that_is_not_there_once_cannot_be_changed(data: bytes) -> None:
    assert kind_of(replace(data, HOME, FIRST)) is RefusalKind.NOT_FOUND
    assert kind_of(remove(data, HOME, FIRST.memory_id)) is RefusalKind.NOT_FOUND


lines = st.sampled_from(["a", "备份 👍", "```", "~~~~", "# H", "", "=======", "<<<<<<< x", "    deep", "---", "\tz"])
any_text = st.lists(lines, max_size=6).map("\n".join) | st.text(max_size=40)


@given(st.lists(any_text, max_size=4), any_text, st.integers(0, 3))
def test_what_is_accepted_reads_back_and_leaves_the_others_alone(texts: list[str], extra: str, which: int) -> None:
    data = b""
    for number, text in enumerate(texts):
        result = append(data, HOME, a_memory(text, memory_id=a_memory_id(number)))
        data = result if isinstance(result, bytes) else data
    before = {one.record.memory_id: one.record for one in parse(data, HOME).records}
    target = a_memory_id(which)

    replaced = replace(data, HOME, a_memory(extra, memory_id=target))
    removed = remove(data, HOME, target)

    others = {memory_id: record for memory_id, record in before.items() if memory_id != target}
    for result, left in ((replaced, others), (removed, others)):
        if isinstance(result, bytes):
            after = {one.record.memory_id: one.record for one in parse(result, HOME).records}
            assert {memory_id: after[memory_id] for memory_id in left} == left
    assert isinstance(removed, bytes) == (target in before)
