"""History is put together over a running remora."""

from pathlib import Path

from tests.support.team_history import a_history


async def test_the_ports_work_over_the_parts_of_a_remora(tmp_path: Path) -> None:
    async with a_history(tmp_path) as made:
        await made.log(made.talk().turns(4))

        assert (await made.select()).matched == 3
        assert len(await made.commits.between(made.bound, 0, 10**15, 9)) == 1
