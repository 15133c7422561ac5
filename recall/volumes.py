"""Which file takes the records of a month: `records/<yyyy-mm>.md`, then `-2`, `-3` … (M-06).

A volume that is large, or that a person's edit has made unusable, is followed by the next one, so remembering costs the
same however much there is.
"""

import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from recall import edits
from recall.contracts import MemoryRecord, Millis
from recall.files import RefusalKind, Refused
from recall.markers import FileHome

FOLDER = "records"
LARGE = 256 * 1024  # bytes of a volume that takes no more
MOST = 1000  # records of a volume
UNUSABLE = 9  # volumes in a row that are tried when they cannot be used
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MARK = b"<!-- memory:mem_"
_NOTHING = Refused(kind=RefusalKind.UNSAFE_TEXT, problem="None of the records can stand in a memory file.")
_FULL = Refused(kind=RefusalKind.UNUSABLE_FILE, problem="The volume is full.")

Outcome = Sequence[Refused | None]  # of the first records, in their order


def month_of(at: Millis) -> str:
    """The month of a moment, UTC, as volumes are named."""
    return (_EPOCH + timedelta(milliseconds=at)).strftime("%Y-%m")


def name_of(month: str, volume: int) -> str:
    """A volume's path below its root."""
    return f"{FOLDER}/{month}.md" if volume == 1 else f"{FOLDER}/{month}-{volume}.md"


def last_volume(base: str, month: str) -> int:
    """The number of the last volume there is of a month; 1 when there is none."""
    pattern = re.compile(re.escape(month) + r"(?:-([1-9]\d{0,8}))?\.md")
    try:
        names = os.listdir(os.path.join(base, FOLDER))
    except OSError:
        return 1
    return max((int(match[1] or 1) for name in names if (match := pattern.fullmatch(name))), default=1)


def filling(
    records: Sequence[MemoryRecord], home: FileHome, told: Callable[[Outcome], None]
) -> Callable[[bytes], bytes | Refused]:
    """The edit that appends as many of the records as the volume has room for, at least one to one that is not full.

    `told` hears what became of each that was tried; nothing is written when none of them can be.
    """

    def edit(data: bytes) -> bytes | Refused:
        room, count = LARGE - len(data), MOST - data.count(_MARK)
        if room <= 0 or count <= 0:
            return _FULL
        some: list[MemoryRecord] = []
        for record in records[:count]:
            if room <= 0:
                break
            some.append(record)
            room -= len(record.text.encode("utf-8", "replace"))
        done = edits.append_all(data, home, some)
        if isinstance(done, Refused):
            return done
        told(done[1])
        return done[0] if None in done[1] else _NOTHING  # a file is not written for nothing

    return edit
