"""What is special to leases within one process; `tests/contract` holds them to the same promises as Redis."""

from sessions.adapters.memory_turn_lock import MemoryTurnLock
from tests.support.records_world import session


async def test_two_locks_know_nothing_of_each_other() -> None:
    async with MemoryTurnLock().hold(session().id) as lease, MemoryTurnLock().hold(session().id) as other:
        assert lease.is_held
        assert other.is_held
