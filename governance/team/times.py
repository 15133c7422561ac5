"""Times as documents write them: UTC with milliseconds and Z. Pure."""

from datetime import UTC, datetime, timedelta

from governance.team.contracts.base import is_time
from recall.contracts import Millis

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def written(at: Millis) -> str:
    """`2026-11-12T09:30:00.000Z`."""
    return (_EPOCH + timedelta(milliseconds=at)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"


def day(at: Millis) -> str:
    """The UTC date: `2026-11-12`."""
    return written(at)[:10]


def read(text: str) -> Millis | None:
    """Epoch milliseconds; None: it is no such time."""
    if not is_time(text):
        return None
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
    except ValueError:
        return None
