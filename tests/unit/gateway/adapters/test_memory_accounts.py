"""What is special to accounts on dictionaries; `tests/contract` holds them to the same promises as Postgres."""

from datetime import UTC, datetime
from itertools import count
from uuid import UUID

from gateway.adapters.memory_accounts import MemoryAccounts
from gateway.domain.access import Role

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


async def test_ids_come_from_where_they_are_said_to_come_from() -> None:
    numbers = count(1)
    accounts = MemoryAccounts(new_id=lambda: UUID(int=next(numbers)))
    tenant = await accounts.tenant("acme", name="Acme", at=NOON)
    account = await accounts.account(tenant, "Li", Role.TRAINEE, at=NOON)
    assert (tenant, account.id) == (UUID(int=1), UUID(int=2))
