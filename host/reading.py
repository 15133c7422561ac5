"""N-08 meets M-06: which records a tool's read result covered, and whether it showed them as they are now."""

import asyncio
from pathlib import Path

from governance.evidence import WHOLE, Covered
from host.reads import window_bytes
from recall.canonical import bytes_digest
from recall.contracts import ReadWindow
from recall.files import LARGEST, Fresh, OutOfRange, Read, Stale, coverage
from recall.library import Library


async def covered(library: Library, window: ReadWindow) -> list[Covered]:
    """Every record of the file that the window touches. A file without records costs one index look-up, no reading."""
    locators = await library.locators(window.path)
    if not locators:
        return []
    data = await asyncio.to_thread(_contents, Path(window.path))
    if data is None:
        return []
    span = window_bytes(data, window)
    indexed = await library.file_digest(window.path)
    shown: list[Covered] = []
    for locator in locators:
        if span is None:
            ratio, fresh = 0.0, False
        else:
            seen = coverage(Read(bytes_digest(data), span[0], span[1]), locator, indexed)
            match seen:
                case Fresh(ratio=ratio):
                    fresh = True
                case Stale():
                    ratio, fresh = 0.0, False
                case OutOfRange():
                    continue
        shown.append(
            Covered(
                memory_id=locator.memory_id,
                source_version=locator.source_version,
                record_digest=locator.record_digest,
                ratio=round(ratio * WHOLE),
                fresh=fresh,
            )
        )
    return shown


def _contents(path: Path) -> bytes | None:
    """The file's bytes, if it is a plain file of a size that we index."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_bytes()
    except OSError:
        return None
