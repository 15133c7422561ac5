"""How late the event loop is: nothing before the first look, and what held it up afterwards."""

import asyncio

import pytest

from host.lag import LOOKS, Lag


def test_before_the_first_look_nothing_is_late() -> None:
    assert Lag().read() == {"last": 0.0, "most": 0.0, "mean": 0.0}


def test_what_held_the_loop_up_is_seen_for_a_minute() -> None:
    lag = Lag()
    for late in (0.2, -0.001, 0.1):
        lag.looked(late)
    early = lag.read()
    for _ in range(LOOKS):
        lag.looked(0.0)

    assert early == {"last": 0.1, "most": 0.2, "mean": 0.1}
    assert lag.read()["most"] == 0.0


async def test_it_looks_for_as_long_as_it_is_let(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.lag.LOOK_SECONDS", 0)
    lag = Lag()
    watching = asyncio.create_task(lag.watch())
    for _ in range(20):
        await asyncio.sleep(0)
    watching.cancel()

    assert lag.read()["most"] > 0.0
