"""A version stands for a set of files: any order of coming and going leads to the same one."""

from hypothesis import given
from hypothesis import strategies as st

from recall.versions import NOTHING, added, version_of, weight
from tests.support.builders import a_user_scope, a_workspace_scope

weights = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.sampled_from("xy")), max_size=8)


def summed(files: list[tuple[str, int, str]]) -> str:
    total = NOTHING
    for relative, version, digest in files:
        total = added(total, weight(a_workspace_scope(), relative, version, digest))
    return total


@given(weights, st.randoms())
def test_neither_order_nor_detours_change_the_sum(files: list[tuple[str, int, str]], chance) -> None:  # type: ignore[no-untyped-def]
    shuffled = chance.sample(files, len(files))
    detour = added(added(summed(shuffled), weight(a_user_scope(), "z", 1, "z")), -weight(a_user_scope(), "z", 1, "z"))

    assert summed(files) == summed(shuffled) == detour


def test_every_part_of_a_file_counts() -> None:
    given = {
        weight(scope, relative, version, digest)
        for scope in (a_workspace_scope(), a_workspace_scope("ws_b"), a_user_scope())
        for relative in ("a.md", "b.md")
        for version in (1, 2)
        for digest in ("d", "e")
    }

    assert len(given) == 24


def test_a_version_has_its_form() -> None:
    assert version_of(NOTHING).startswith("idx_pre_") and len(version_of(NOTHING)) == len("idx_pre_") + 32
