"""What all memory verbs share: bounds, cleaning, refusals with a way out, and an audit that undoes nothing."""

from pathlib import Path

import pytest

from host.connection import Peer
from host.errors import ProtocolFault
from host.protocol import Request
from host.verbs import (
    MAX_TAG,
    MAX_TAGS,
    MAX_TEXT,
    MAX_TITLE,
    Words,
    bounded,
    cleaned,
    guarded,
    in_future,
    not_written,
    unknown,
)
from recall.contracts import Flag, Scope, ScopeRef
from recall.errors import IndexFault
from recall.files import RefusalKind, Refused
from recall.workspace import workspace_key
from tests.support.asking import asking
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.remembering import POISON, TOKEN


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    "words",
    [
        Words(text=""),
        Words(text=" \n"),
        Words(text="x" * (MAX_TEXT + 1)),
        Words(text="x", title="t" * (MAX_TITLE + 1)),
        Words(text="x", tags=("t",) * (MAX_TAGS + 1)),
        Words(text="x", tags=("t" * (MAX_TAG + 1),)),
    ],
)
def test_words_beyond_their_bounds_are_refused_with_the_bound(words: Words) -> None:
    with pytest.raises(ProtocolFault) as caught:
        bounded(words)

    assert (caught.value.kind, caught.value.code) == ("invalid-params", -32602)
    assert caught.value.problem and caught.value.next_step


def test_words_within_their_bounds_are_let_through() -> None:
    bounded(Words(text="x" * MAX_TEXT, title="t" * MAX_TITLE, tags=("t" * MAX_TAG,) * MAX_TAGS))


def test_words_are_kept_on_the_lines_where_they_belong() -> None:
    clean = cleaned(Words(text="  One.\n\n  Two.\n", title=" A \n title ", tags=(" a\tb ", "a b", " ", "c")))

    assert (clean.text, clean.title, clean.tags) == ("One.\n\n  Two.", "A title", ("a b", "c"))
    assert (clean.redacted, clean.poisoned, clean.flags) == ((), False, ())
    assert cleaned(Words(text="x", title=" ")).title is None


def test_secrets_are_cut_out_of_all_words_and_named_once() -> None:
    clean = cleaned(Words(text=f"Use {TOKEN}.", title=f"Of {TOKEN}", tags=(TOKEN, "ci")))

    assert clean.redacted == ("secret.github-token",)
    assert TOKEN not in f"{clean.text}{clean.title}{clean.tags}"


@pytest.mark.parametrize("field", ["text", "title", "tags"])
def test_words_that_read_like_an_order_are_flagged_wherever_they_stand(field: str) -> None:
    said = {"text": "Herons.", field: (POISON,) if field == "tags" else POISON}

    assert cleaned(Words(**said)).flags == (Flag.QUARANTINED,)


@pytest.mark.parametrize(
    ("expires", "good"), [(None, True), (START + 1, True), (START, False), (0, False), (2**60, False)]
)
def test_an_end_is_still_to_come(expires: int | None, good: bool) -> None:
    try:
        in_future(expires, START)
    except ProtocolFault as fault:
        assert (fault.kind, good) == ("invalid-params", False)
    else:
        assert good


@pytest.mark.parametrize("kind", list(RefusalKind))
def test_every_refused_write_says_what_to_do(kind: RefusalKind) -> None:
    fault = not_written(Refused(kind=kind, problem="It is so."))

    assert (fault.kind, fault.problem) == (kind, "It is so.")
    assert fault.next_step.endswith(".")


def test_an_unknown_memory_is_named_in_part_only() -> None:
    assert "x" * 65 not in unknown("x" * 1000).problem


async def test_an_index_that_cannot_be_read_is_an_answer_with_a_way_out() -> None:
    async def fails(request: Request, peer: Peer) -> object:
        raise IndexFault("The index cannot be read: no such table.")

    async def works(request: Request, peer: Peer) -> object:
        return 1

    table = guarded({"fails": fails, "works": works})
    with pytest.raises(ProtocolFault) as caught:
        await table["fails"](None, None)  # type: ignore[arg-type]

    assert (caught.value.kind, "index.rebuild" in caught.value.next_step) == ("index-unavailable", True)
    assert await table["works"](None, None) == 1  # type: ignore[arg-type]


async def test_an_index_that_is_still_being_filled_never_says_that_there_is_nothing(tmp_path: Path) -> None:
    async with asking(tmp_path / "data") as remora:
        folder = remora.world.workspace()
        here = ScopeRef(kind=Scope.WORKSPACE, key=workspace_key(folder))
        remora.world.parts.library._catalogue.standing.unfinished = frozenset({here})

        degraded = [
            (await remora.ask(method, workspace=folder, query="?"))["degraded"]
            for method in ("memory.list", "memory.lint", "memory.search")
        ]
        fault = await remora.refused("memory.get", memoryId=a_memory_id(1), workspace=folder)

        assert degraded == [True, True, True]
        assert (fault.kind, "index.progress" in fault.next_step) == ("index-unavailable", True)
        assert (await remora.ask("memory.list", workspace=remora.world.workspace("other")))["degraded"] is False
