"""What the memory twin has beside the port; the port's promises are in the contract suite."""

from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.history import history
from tests.support.records_world import session, turn


async def test_it_can_lose_everything() -> None:
    sets = MemoryWorkingSets()
    await sets.put(session(), history([], [turn(1)]))
    sets.clear()
    assert await sets.get(session()) is None
