"""Readings of the moment."""

from host.gauges import readings
from tests.support.builders import a_call, a_result
from tests.support.world import FAILURE, LESSON, World


async def test_queues_sizes_and_breakers_are_read(world: World) -> None:
    await world.remember(LESSON)
    folder = world.workspace()
    await world.feed(a_call(workspace=folder), a_result(FAILURE, workspace=folder))

    read = await readings(world.parts)

    assert read["sessions"] == {"": 1}
    assert (read["queued"]["passes"], read["queued"]["most"], read["queued"]["packets"]) == (0, 0, 1)
    assert read["audit_entries"] == {"kept": 2, "let-go": 0}
    assert read["database_bytes"]["log"] > 0 and read["database_bytes"]["vectors"] == 0
    assert read["breaker"]["lexical closed"] == 1.0
    assert read["breaker"]["lexical open"] == read["breaker"]["lexical half-open"] == 0.0
    assert set(read["loop_lag_seconds"]) == {"last", "most", "mean"}


async def test_a_breaker_that_is_open_is_seen(world: World) -> None:
    arm = world.parts.host.arms[0]
    for _ in range(3):
        arm.breaker.failed(world.clock.micros())

    breakers = (await readings(world.parts))["breaker"]

    assert (breakers[f"{arm.name} closed"], breakers[f"{arm.name} open"]) == (0.0, 1.0)
