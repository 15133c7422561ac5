"""What a pass borrows: what use has shown, and what a person approved as it stands."""

from governance.standing import Standing
from host.marks import Kept, Marks, Said
from host.mutes import Mutes
from host.props import Props
from tests.support.builders import a_memory_id

ONE, TWO, THREE = a_memory_id(1), a_memory_id(2), a_memory_id(3)
NOBODY = None


def props(**fields: object) -> Props:
    marks = Marks(None, Kept(said={ONE: Said(approved="digest")}), Mutes(None, {}))  # type: ignore[arg-type]
    return Props(NOBODY, b"", NOBODY, NOBODY, marks, **fields)  # type: ignore[arg-type]


def test_without_evidence_nothing_is_said_of_use() -> None:
    assert (props().used([ONE, TWO]), props().evidenced([ONE]), dict(props().stages())) == ({}, frozenset(), {})


def test_use_counts_by_what_the_evidence_comes_to() -> None:
    known = {
        ONE: Standing(sessions=2, reuse=2, reuse_sessions=2, success=1, success_sessions=1),
        TWO: Standing(sessions=1, seen=4),
    }
    borrowed = props(uses=lambda memory_id: known.get(memory_id, Standing()))
    assert borrowed.used([ONE, TWO, THREE]) == {ONE: 0.5}
    assert borrowed.evidenced([ONE, TWO, THREE]) == {ONE}


def test_an_approval_is_of_one_digest() -> None:
    assert props().approved({ONE: "digest", TWO: "digest"}) == {ONE}
    assert props().approved({ONE: "another"}) == frozenset()
