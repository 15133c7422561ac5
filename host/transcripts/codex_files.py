"""Where Codex keeps the rollout of a thread: `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`, by local days.

Touches the disk and blocks: belongs on a thread.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from host.transcripts.codex_thread import made

_THREAD = re.compile(r"[0-9A-Za-z-]{1,64}")
DAY = timedelta(days=1)


def rollout_of(transcript: str, thread: str) -> str | None:
    """The rollout of `thread`, beside the one at `transcript`; None when it is not there.

    A thread's id carries the time at which it was made, and a day is that of the machine: three folders are looked at.
    """
    folders = Path(transcript).parents
    if not _THREAD.fullmatch(thread) or len(folders) < 4:
        return None
    days = {folders[0]}
    if at := made(thread):
        day = datetime.fromtimestamp(at / 1000, UTC)
        days |= {folders[3] / (day + offset).strftime("%Y/%m/%d") for offset in (-DAY, 0 * DAY, DAY)}
    for folder in sorted(days, reverse=True):
        for found in sorted(folder.glob(f"rollout-*-{thread}.jsonl"), reverse=True):
            return str(found)
    return None
