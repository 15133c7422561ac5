"""Branches that the user left: found where the user went back, and nowhere else."""

from host.transcripts.claude_branches import live_branch
from tests.host.transcripts.reading import DATA, a_call, a_line, a_record, a_result, case


def lines_of(name: str) -> list[bytes]:
    return (DATA / case(name)["given"]["transcript"]).read_bytes().splitlines(keepends=True)


def test_case_a_rewound_branch_is_abandoned() -> None:
    branch = live_branch(lines_of("transcript-rewound-branch"))

    assert branch.kept == 4
    assert branch.abandoned == {f"msg:00000000-0000-4000-8000-00000000000{number}" for number in (3, 4)}


def test_case_progress_records_are_no_branches() -> None:
    then = case("transcript-progress-records-are-no-branches")["then"]

    branch = live_branch(lines_of("transcript-progress-records-are-no-branches"))

    assert branch.kept == then["user_and_assistant_records_kept"]
    assert len(branch.abandoned) == then["abandoned_branches"]


def test_parallel_results_beside_the_chain_stay() -> None:
    branch = live_branch(
        [
            a_record("user", "Look.", uuid="u1"),
            a_record("assistant", [a_call("t1")], uuid="a1", parentUuid="u1", message_id="m1"),
            a_record("assistant", [a_call("t2")], uuid="a2", parentUuid="a1", message_id="m1"),
            a_record("user", [a_result("t1")], uuid="r1", parentUuid="a1"),
            a_record("user", [a_result("t2")], uuid="r2", parentUuid="a2"),
            a_record("assistant", "Done.", uuid="a3", parentUuid="r2"),
        ]
    )
    assert (branch.kept, branch.abandoned) == (6, frozenset())


def test_a_reply_made_anew_leaves_the_old_one_with_its_calls() -> None:
    branch = live_branch(
        [
            a_record("user", "Look.", uuid="u1"),
            a_record("assistant", [a_call("t1")], uuid="a1", parentUuid="u1"),
            a_record("user", [a_result("t1")], uuid="r1", parentUuid="a1"),
            a_record("assistant", "Better.", uuid="a2", parentUuid="u1"),
        ]
    )
    assert branch.abandoned == {"msg:a1", "call:t1", "msg:r1", "result:t1"}


def test_going_back_without_a_new_prompt_is_seen_by_the_named_leaf() -> None:
    records = [
        a_record("user", "One.", uuid="u1"),
        a_record("assistant", "Yes.", uuid="a1", parentUuid="u1"),
        a_record("user", "Two.", uuid="u2", parentUuid="a1"),
        a_line({"type": "last-prompt", "leafUuid": "a1"}),
    ]
    assert live_branch(records).abandoned == {"msg:u2"}
    assert live_branch([*records, a_record("user", "Three.", uuid="u3", parentUuid="u2")]).abandoned == frozenset()


def test_a_compaction_cuts_no_branch_off() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "logicalParentUuid": "u1",
    }
    branch = live_branch(
        [
            a_record("user", "Use tabs.", uuid="u1"),
            a_line(boundary),
            a_record("user", "Summary.", uuid="s1", parentUuid="b", isCompactSummary=True),
            a_record("user", "Subagent.", uuid="x1", parentUuid="u1", isSidechain=True),
            a_record("user", "Go on.", uuid="u2", parentUuid="s1"),
        ]
    )
    assert (branch.kept, branch.abandoned) == (4, frozenset())


def test_records_that_point_at_each_other_end() -> None:
    branch = live_branch(
        [
            a_record("user", "a", uuid="u1", parentUuid="u2"),
            a_record("user", "b", uuid="u2", parentUuid="u1"),
            a_record("user", "c", uuid="u3", parentUuid=None),
        ]
    )
    assert (branch.kept, branch.abandoned) == (3, frozenset())
