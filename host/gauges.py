"""Readings of the moment: queues, the event loop's lag, sizes on disk, breakers. What no audit entry tells."""

import asyncio
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from host.parts import Parts

Readings = Mapping[str, Mapping[str, float]]
SUFFIXES = ("", "-wal")


async def readings(parts: Parts) -> Readings:
    """Name -> what it is of -> value. Seconds and bytes."""
    runtimes = parts.sessions.all()
    waits = [len(runtime.queue) for runtime in runtimes]
    sizes = await asyncio.to_thread(_sizes, parts.databases)
    now = parts.clock.micros()
    return {
        "sessions": {"": len(runtimes)},
        "queued": {"passes": sum(waits), "most": max(waits, default=0), "packets": len(await parts.inbox.unsettled())}
        | {f"review-{state}": depth for state, depth in (await _depths(parts)).items()},
        "loop_lag_seconds": parts.lag.read(),
        "database_bytes": sizes,
        "audit_entries": {"kept": await parts.audit.count(), "let-go": (await parts.audit.readable()).entries},
        "breaker": {
            f"{arm.name} {state}": float(arm.breaker.state(now) == state)
            for arm in parts.host.arms
            for state in ("closed", "open", "half-open")
        },
    }


async def _depths(parts: Parts) -> Mapping[str, int]:
    try:
        return await parts.queue.depths()
    except sqlite3.Error:  # `health` says so
        return {}


def _sizes(files: Mapping[str, Path]) -> dict[str, float]:
    """Bytes on disk, the write-ahead log included; what is not there has none."""
    sizes: dict[str, float] = {}
    for name, file in files.items():
        sizes[name] = 0
        for suffix in SUFFIXES:
            try:
                sizes[name] += file.with_name(file.name + suffix).stat().st_size
            except OSError:
                continue
    return sizes
