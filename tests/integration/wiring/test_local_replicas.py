"""Nothing that the calendar has had started here outlives the stack that it was started for."""

import asyncio
from pathlib import Path

from gateway.wiring.local_replicas import end_replicas
from tests.support.process_house import lives, process_house


async def test_they_are_ended_and_named(tmp_path: Path) -> None:
    async with process_house(tmp_path) as house:
        run = await house.started()
        assert list(await asyncio.to_thread(end_replicas, tmp_path, within_s=5.0)) == ["one"]
        assert not lives(run.shim.pid)
