"""What ties a turn to the repository, and how firmly."""

import msgspec

from governance.team.contracts.turns import (
    Commit,
    Edge,
    Seal,
    Strength,
    TerminalState,
    Turn,
    TurnContent,
    TurnEvent,
)
from governance.team.edges import (
    CLOCK_MS,
    FOLLOWS_MS,
    MOST_COMMITS,
    MOST_PATHS,
    Known,
    Where,
    edge_revision,
    edges,
    edited,
    place_of,
    relative,
    result_text,
    span,
)
from tests.support.clock import START

ROOT = "/u/dev/project"
ONE, TWO, THREE = ("1" * 40, "2" * 40, "3" * 40)


def a_turn() -> Turn:
    return Turn(
        turn_key="turn_1",
        session_key="k",
        provider="codex",
        place=0,
        first_seq=1,
        last_seq=9,
        at=START,
        seal=Seal.HARD_SEALED,
        active=True,
        revision=1,
        payload_digest="d",
    )


def an_edit(
    path: str, at: int = START, name: str = "edit", state: TerminalState = TerminalState.COMPLETED
) -> TurnContent:
    return a_content([(name, path, state)], at)


def a_content(calls: list[tuple[str, str, TerminalState]], at: int = START) -> TurnContent:
    events = []
    for number, (name, text, state) in enumerate(calls):
        for kind in ("tool-call", "tool-result"):
            events.append(
                TurnEvent(
                    kind=kind,  # type: ignore[arg-type]
                    text=text if kind == "tool-call" else "done",
                    event_seq=number,
                    event_id=f"{kind}:{number}",
                    digest="d",
                    at=at,
                    name=name,
                    call_id=f"c{number}",
                    state=state,
                )
            )
    return TurnContent(turn=a_turn(), events=tuple(events))


def a_commit(name: str = ONE, at: int = START + 60_000, *paths: str) -> Commit:
    return Commit(commit=name, at=at, paths=paths or ("src/a.py", "src/b.py"))


def test_a_named_commit_is_direct_and_a_short_hash_observed() -> None:
    found = edges(
        TurnContent(turn=a_turn(), events=()),
        Known(named=(a_commit(ONE),), abbreviated=(a_commit(TWO), a_commit(ONE))),
        ROOT,
    )

    assert found == (
        Edge(kind="commit", target=ONE, strength=Strength.DIRECT),
        Edge(kind="commit", target=TWO, strength=Strength.OBSERVED),
    )


def test_an_edit_is_tied_to_the_first_commit_after_it_that_changed_the_path() -> None:
    around = (
        a_commit(THREE, START + 120_000),
        a_commit(TWO, START + 60_000),
        a_commit(ONE, START - 60_000),
        a_commit("4" * 40, START + 1_000, "other.py"),
    )

    found = edges(an_edit(f"{ROOT}/src/a.py\n--- old"), Known(around=around), ROOT)

    assert found == (
        Edge(kind="commit", target=TWO, strength=Strength.OBSERVED),
        Edge(kind="path", target="src/a.py", strength=Strength.OBSERVED),
    )


def test_gits_whole_seconds_do_not_put_a_commit_before_its_edit() -> None:
    at = START + 999
    assert edges(an_edit("src/a.py", at), Known(around=(a_commit(ONE, at // 1000 * 1000),)), ROOT)
    assert not edges(an_edit("src/a.py", at), Known(around=(a_commit(ONE, at - CLOCK_MS - 1),)), ROOT)
    assert not edges(an_edit("src/a.py", at), Known(around=(a_commit(ONE, at + FOLLOWS_MS + 1),)), ROOT)


def test_an_edit_that_failed_ties_nothing_and_so_does_one_in_no_commit() -> None:
    known = Known(around=(a_commit(),))

    assert edges(an_edit("src/a.py", state=TerminalState.FAILED), known, ROOT) == ()
    assert edges(an_edit("src/a.py", state=TerminalState.PENDING), known, ROOT) == ()
    assert edges(an_edit("src/c.py"), known, ROOT) == ()


def test_paths_must_be_the_same_and_not_only_alike() -> None:
    known = Known(around=(a_commit(),))

    for path in ("a.py", "src/A.py", "lib/src/a.py", f"{ROOT}-other/src/a.py", "src/a.py.orig"):
        assert edges(an_edit(path), known, ROOT) == (), path


def test_a_patch_names_each_of_its_files() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: src/a.py\n+x\n*** Update File: old.py\n*** Move to: src/b.py\n@@\n*** End Patch"
    )

    assert [one.path for one in edited(an_edit(patch), ROOT)] == ["src/a.py", "old.py", "src/b.py"]


def test_a_command_that_names_a_path_of_a_commit_of_the_turn_has_written_it() -> None:
    content = a_content(
        [("shell", f"echo x > ./src/a.py && cat {ROOT}/src/b.py my-docs/x.md", TerminalState.COMPLETED)]
    )
    made = a_commit(ONE, START, "src/a.py", "src/b.py", "docs/x.md", "x.md")

    found = edges(content, Known(abbreviated=(made,)), ROOT)

    assert [edge.target for edge in found if edge.kind == "path"] == ["src/a.py", "src/b.py"]
    assert edges(content, Known(around=(made,)), ROOT) == ()


def test_only_results_name_commits() -> None:
    content = a_content([("shell", ONE, TerminalState.COMPLETED)])

    assert result_text(content) == "done"


def test_a_turn_has_bounded_edges_direct_ones_first() -> None:
    observed = tuple(a_commit(f"{number:040x}", START, f"f{number:03}.py") for number in range(90))
    content = a_content([("edit", f"f{number:03}.py", TerminalState.COMPLETED) for number in range(90)])

    found = edges(content, Known(named=(a_commit(ONE),), abbreviated=observed), ROOT)

    commits = [edge for edge in found if edge.kind == "commit"]
    assert len(commits) == MOST_COMMITS and commits[0].target == ONE
    assert len(found) - len(commits) == MOST_PATHS


def test_a_path_outside_of_the_repository_is_none_of_it() -> None:
    here = Where(tops=(ROOT,), folder=ROOT)

    assert relative(f"{ROOT}/a/b.py", here) == "a/b.py" == relative("./a/b.py", here) == relative("x/../a/b.py", here)
    for path in ("/etc/passwd", ROOT, "../x", ".", ".git/config", f"{ROOT}/../x", "", f"{ROOT}-other/x"):
        assert relative(path, here) is None, path


def test_relative_paths_are_meant_from_where_the_session_ran() -> None:
    content = msgspec.structs.replace(an_edit("a.py"), folder=f"{ROOT}/src")

    assert [one.path for one in edited(content, ROOT)] == ["src/a.py"]
    assert [one.path for one in edited(msgspec.structs.replace(content, folder=""), ROOT)] == ["a.py"]
    assert [one.path for one in edited(msgspec.structs.replace(content, folder="odd"), ROOT)] == ["a.py"]


def test_a_repository_that_was_named_by_way_of_a_link_is_the_same() -> None:
    content = a_content(
        [("edit", f"/link/project/{name}", TerminalState.COMPLETED) for name in ("src/a.py", "../x.py")]
    )
    linked = msgspec.structs.replace(content, folder="/link/project/src")

    assert place_of(linked, ROOT) == Where(tops=(ROOT, "/link/project"), folder="/link/project/src")
    assert [one.path for one in edited(linked, ROOT)] == ["src/a.py"]
    assert [one.path for one in edited(content, ROOT)] == []


def test_a_command_names_paths_from_where_it_ran() -> None:
    content = a_content([("shell", "sed -i s/x/y/ a.py ../docs/x.md", TerminalState.COMPLETED)])
    made = a_commit(ONE, START, "src/a.py", "a.py", "docs/x.md")

    found = edges(msgspec.structs.replace(content, folder=f"{ROOT}/src"), Known(named=(made,)), ROOT)

    assert [edge.target for edge in found if edge.kind == "path"] == ["src/a.py"]


def test_the_revision_changes_with_what_is_tied_and_how() -> None:
    one, two = (Edge(kind="commit", target=ONE, strength=s) for s in (Strength.DIRECT, Strength.OBSERVED))

    assert len({edge_revision(each) for each in ((), (one,), (two,), (one, two))}) == 4
    assert edge_revision((one,)) == edge_revision((one,))


def test_the_span_holds_the_turn_and_a_day_after_it() -> None:
    assert span(an_edit("a", START)) == (START - CLOCK_MS, START + FOLLOWS_MS)
    assert span(TurnContent(turn=a_turn(), events=())) == (START - CLOCK_MS, START + FOLLOWS_MS)
