"""What the store of set limits promises, on dictionaries and on Postgres."""

from collections.abc import AsyncIterator

import pytest

from gateway.adapters.memory_limit_rows import MemoryLimitRows
from gateway.adapters.postgres_limits import PostgresLimits
from gateway.domain.access import Role
from gateway.domain.limit_layers import UNLIMITED, OwnLimits, TenantOwn
from gateway.errors import AccountNotFound
from gateway.limit_ports import AccountOwn, LimitStore
from sessions.adapters.postgres.engine import postgres_engine
from sessions.errors import RecordsUnavailable
from tests.support.records_world import ELSEWHERE, HERE, settle, uuid_of

SOME = OwnLimits(requests_per_minute=5, input_tokens_per_minute=UNLIMITED, turns_in_flight=2_000_000_000)


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[LimitStore]:
    if request.param == "memory":
        rows = MemoryLimitRows()
        for people in (HERE, ELSEWHERE):
            rows.accounts[people.tenant, people.instructor] = AccountOwn(Role.INSTRUCTOR)
            rows.accounts[people.tenant, people.trainee] = AccountOwn(Role.TRAINEE)
        yield rows
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    await settle(engine)
    yield PostgresLimits(engine=engine)
    await engine.dispose()


async def test_nothing_is_set_at_first(store: LimitStore) -> None:
    assert await store.of_tenant(HERE.tenant) == TenantOwn()
    assert await store.of_account(HERE.tenant, HERE.trainee) == AccountOwn(Role.TRAINEE)
    assert await store.of_account(HERE.tenant, HERE.instructor) == AccountOwn(Role.INSTRUCTOR)
    assert await store.of_account(ELSEWHERE.tenant, HERE.trainee) is None


async def test_what_is_set_comes_back_and_replaces_what_was(store: LimitStore) -> None:
    for own in (SOME, OwnLimits(request_burst=1), OwnLimits()):
        await store.set_account(HERE.tenant, HERE.trainee, own)
        assert await store.of_account(HERE.tenant, HERE.trainee) == AccountOwn(Role.TRAINEE, own)
    for of_tenant in (TenantOwn(SOME, sessions=UNLIMITED), TenantOwn(sessions=3), TenantOwn()):
        await store.set_tenant(HERE.tenant, of_tenant)
        assert await store.of_tenant(HERE.tenant) == of_tenant
        assert await store.of_tenant(ELSEWHERE.tenant) == TenantOwn()


async def test_accounts_and_tenants_are_set_apart(store: LimitStore) -> None:
    await store.set_account(HERE.tenant, HERE.trainee, SOME)
    await store.set_tenant(HERE.tenant, TenantOwn(sessions=3))
    assert await store.of_account(HERE.tenant, HERE.instructor) == AccountOwn(Role.INSTRUCTOR)
    assert await store.of_account(HERE.tenant, HERE.trainee) == AccountOwn(Role.TRAINEE, SOME)
    assert await store.of_tenant(HERE.tenant) == TenantOwn(sessions=3)


async def test_an_account_that_is_not_there_is_not_set(store: LimitStore) -> None:
    for tenant, account in ((HERE.tenant, uuid_of("nobody")), (ELSEWHERE.tenant, HERE.trainee)):
        with pytest.raises(AccountNotFound):
            await store.set_account(tenant, account, SOME)


@pytest.mark.postgres
async def test_a_database_that_is_away_is_told_as_that() -> None:
    engine = postgres_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(RecordsUnavailable):
        await PostgresLimits(engine=engine).of_tenant(HERE.tenant)
    await engine.dispose()
