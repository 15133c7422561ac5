"""Every captured result, through the library: the share of each record is exact, and none once a file changed."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.evidence import WHOLE
from host.reading import shown_by
from recall.contracts import EventPayload
from recall.library import Library
from tests.host.reads.cases import CASES, FILES, PROJECT, Case
from tests.support.library import a_library, a_root

EVERY = [pytest.param(case, id=f"{host}: {case.name}") for host, cases in CASES.items() for case in cases]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
async def library(project: Path, tmp_path: Path) -> AsyncIterator[Library]:
    async with a_library(tmp_path / "data") as opened:
        await opened.adopt(a_root(project))
        yield opened


def payload(case: Case, project: Path) -> EventPayload:
    """The event's payload, of a project that lies elsewhere."""
    told = msgspec.json.encode({**case.told, "text": case.text}).replace(PROJECT.encode(), str(project).encode())
    return msgspec.json.decode(told, type=EventPayload)


async def shares(library: Library, case: Case, project: Path) -> dict[str, int]:
    """By record the millionths that its file's expected ranges hold of it."""
    found: dict[str, int] = {}
    for name, ranges in case.expected.items():
        for locator in await library.locators(str(project / name)):
            start, end = locator.byte_start, locator.byte_end
            shown = sum(max(0, min(end, high) - max(start, low)) for low, high in ranges)
            if shown:
                found[locator.memory_id] = round(shown / (end - start) * WHOLE)
    return found


@pytest.mark.promise("coverage-exact")
async def test_each_record_is_covered_by_as_much_as_was_shown_of_it(library: Library, project: Path) -> None:
    records = 0
    for param in EVERY:
        (case,) = param.values
        found = await shown_by(library, payload(case, project))

        assert {one.memory_id: one.ratio for one in found if one.fresh} == await shares(library, case, project), (
            param.id
        )
        records += len(found)
    assert records > 500


@pytest.mark.promise("coverage-exact", "read-is-no-citation")
async def test_an_edit_between_index_and_read_makes_every_record_stale(
    library: Library, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stays(*_: object) -> None:
        """The index is not brought up to date."""

    monkeypatch.setattr(Library, "look_again", stays)
    for name, data in FILES.items():
        (project / name).write_bytes(data + b"\nOne more line.\n")
    try:
        for param in EVERY:
            found = await shown_by(library, payload(param.values[0], project))
            assert [one for one in found if one.fresh or one.ratio] == [], param.id
    finally:
        for name, data in FILES.items():
            (project / name).write_bytes(data)
