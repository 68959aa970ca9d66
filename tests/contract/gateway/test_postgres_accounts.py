"""What accounts and keys promise, on dictionaries and on Postgres."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.access_ports import KeyLedger
from gateway.adapters.memory_accounts import MemoryAccounts
from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.domain.access import Action, KeyId, Principal, Role, StoredKey, digest
from gateway.errors import AccountRefused, KeysUnavailable, TooManyKeys
from gateway.ports import Account, Accounts, Keys
from sessions.adapters.postgres.engine import postgres_engine

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


class AccountsAndKeys(Accounts, Keys, KeyLedger, Protocol):
    """All three ports on the same store."""


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[AccountsAndKeys]:
    if request.param == "memory":
        yield MemoryAccounts()
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    yield PostgresAccounts(engine=engine)
    await engine.dispose()


async def _account(store: AccountsAndKeys, slug: str = "acme", role: Role = Role.TRAINEE) -> Account:
    tenant = await store.tenant(slug, name="A tenant", at=NOON)
    return await store.account(tenant, f"the {role}", role, at=NOON)


def _key(name: str, owner: Account) -> StoredKey:
    return StoredKey(KeyId(name), digest(f"secret of {name}"), owner.principal)


async def test_a_tenant_is_made_once(store: AccountsAndKeys) -> None:
    first = await store.tenant("acme", name="Acme", at=NOON)
    assert await store.tenant("acme", name="Another name", at=LATER) == first
    assert await store.tenant("globex", name="Globex", at=NOON) != first
    assert await store.tenant_id("acme") == first
    assert await store.tenant_id("nobody") is None


async def test_a_tenant_made_at_once_by_many_is_one(store: AccountsAndKeys) -> None:
    made = await asyncio.gather(*(store.tenant("acme", name="Acme", at=NOON) for _ in range(8)))
    assert len(set(made)) == 1


async def test_an_account_is_made_once_in_each_tenant(store: AccountsAndKeys) -> None:
    here, there = [await store.tenant(slug, name=slug, at=NOON) for slug in ("here", "there")]
    first = await store.account(here, "王小明", Role.TRAINEE, at=NOON)
    assert first == Account(first.id, here, Role.TRAINEE, "王小明")
    assert await store.account(here, "王小明", Role.TRAINEE, at=LATER) == first
    assert (await store.account(there, "王小明", Role.INSTRUCTOR, at=NOON)).id != first.id


async def test_an_account_made_at_once_by_many_is_one(store: AccountsAndKeys) -> None:
    tenant = await store.tenant("acme", name="Acme", at=NOON)
    made = await asyncio.gather(*(store.account(tenant, "Li", Role.TRAINEE, at=NOON) for _ in range(8)))
    assert len(set(made)) == 1


async def test_an_account_keeps_its_role(store: AccountsAndKeys) -> None:
    account = await _account(store)
    with pytest.raises(AccountRefused, match="trainee"):
        await store.account(account.tenant, account.name, Role.OPERATOR, at=LATER)


async def test_there_is_no_account_without_a_tenant(store: AccountsAndKeys) -> None:
    with pytest.raises(AccountRefused, match="tenant"):
        await store.account(uuid4(), "Li", Role.TRAINEE, at=NOON)


@pytest.mark.parametrize("role", Role)
async def test_a_key_comes_back_with_its_owner(store: AccountsAndKeys, role: Role) -> None:
    owner = await _account(store, role=role)
    key = replace(_key("k", owner), expires_at=LATER)
    await store.add(key, at=NOON)
    assert await store.find(key.id) == key
    assert await store.find(KeyId("another")) is None
    assert key.principal == Principal(owner.tenant, owner.id, role)


@pytest.mark.parametrize("odd", ["", "a\x00b", "' or 1=1 --", "k" * 5000, "%"])
async def test_an_odd_key_is_an_unknown_one(store: AccountsAndKeys, odd: str) -> None:
    assert await store.find(KeyId(odd)) is None


async def test_a_key_is_written_once(store: AccountsAndKeys) -> None:
    owner = await _account(store)
    await store.add(_key("k", owner), at=NOON)
    with pytest.raises(AccountRefused, match="id"):
        await store.add(replace(_key("k", owner), secret_sha256=digest("another")), at=NOON)
    assert await store.find(KeyId("k")) == _key("k", owner)


async def test_a_key_needs_an_account_of_its_tenant(store: AccountsAndKeys) -> None:
    here, there = await _account(store, "here"), await _account(store, "there")
    for principal in (Principal(here.tenant, uuid4(), here.role), Principal(there.tenant, here.id, here.role)):
        with pytest.raises(AccountRefused, match="account"):
            await store.add(replace(_key("k", here), principal=principal), at=NOON)


async def test_a_key_is_revoked_once(store: AccountsAndKeys) -> None:
    owner = await _account(store)
    await store.add(_key("k", owner), at=NOON)
    assert await store.revoke(owner.tenant, KeyId("k"), at=LATER) is True
    assert await store.find(KeyId("k")) == replace(_key("k", owner), revoked_at=LATER)
    assert await store.revoke(owner.tenant, KeyId("k"), at=LATER + timedelta(days=1)) is False
    assert await store.find(KeyId("k")) == replace(_key("k", owner), revoked_at=LATER)


async def test_no_key_of_another_tenant_is_revoked(store: AccountsAndKeys) -> None:
    here, there = await _account(store, "here"), await _account(store, "there")
    await store.add(_key("k", here), at=NOON)
    assert await store.revoke(there.tenant, KeyId("k"), at=LATER) is False
    assert await store.revoke(here.tenant, KeyId("unknown"), at=LATER) is False
    assert await store.find(KeyId("k")) == _key("k", here)


async def test_an_expired_key_is_not_living(store: AccountsAndKeys) -> None:
    owner = await _account(store)
    await store.add(replace(_key("k", owner), expires_at=LATER), at=NOON)
    assert await store.revoke(owner.tenant, KeyId("k"), at=LATER) is False


async def test_the_keys_of_a_tenant_are_listed_oldest_first(store: AccountsAndKeys) -> None:
    trainee, boss = await _account(store), await _account(store, role=Role.OPERATOR)
    elsewhere = await _account(store, "elsewhere")
    await store.add(_key("c", trainee), at=LATER)
    await store.add(_key("b", boss), at=NOON)
    await store.add(_key("a", trainee), at=LATER)
    await store.add(_key("d", elsewhere), at=NOON)
    assert list(await store.of_tenant(trainee.tenant)) == [
        (_key("b", boss), boss),
        (_key("a", trainee), trainee),
        (_key("c", trainee), trainee),
    ]
    assert list(await store.of_tenant(uuid4())) == []


async def test_a_key_comes_back_with_what_it_is_for(store: AccountsAndKeys) -> None:
    owner = await _account(store)
    scoped = replace(owner.principal, scopes=frozenset({Action.READ_SESSIONS, Action.TAKE_TURNS}))
    key = replace(_key("k", owner), principal=scoped, label="the kiosk in hall 3")
    await store.add(key, at=NOON)
    assert await store.find(key.id) == key
    assert [found for found, _ in await store.of_tenant(owner.tenant)] == [key]


async def test_an_account_has_two_living_keys_at_most(store: AccountsAndKeys) -> None:
    owner, other = await _account(store), await _account(store, role=Role.OPERATOR)
    await store.add(replace(_key("a", owner), expires_at=LATER), at=NOON)
    await store.add(_key("b", owner), at=NOON)
    with pytest.raises(TooManyKeys) as caught:
        await store.add(_key("c", owner), at=NOON)
    assert caught.value.limit == 2
    assert await store.find(KeyId("c")) is None
    await store.add(_key("of another", other), at=NOON)
    await store.add(_key("c", owner), at=LATER)  # the first has expired
    assert await store.revoke(owner.tenant, KeyId("b"), at=LATER)
    await store.add(_key("d", owner), at=LATER)
    with pytest.raises(TooManyKeys):
        await store.add(_key("e", owner), at=LATER)


async def test_of_many_keys_made_at_once_two_are_made(store: AccountsAndKeys) -> None:
    owner = await _account(store)
    made = await asyncio.gather(
        *(store.add(_key(f"k{number}", owner), at=NOON) for number in range(8)), return_exceptions=True
    )
    assert sum(one is None for one in made) == 2
    assert all(one is None or isinstance(one, TooManyKeys) for one in made)
    assert len(await store.of_tenant(owner.tenant)) == 2


async def test_the_last_use_of_keys_is_written_down(store: AccountsAndKeys) -> None:
    owner = await _account(store)
    await store.add(_key("a", owner), at=NOON)
    await store.add(_key("b", owner), at=NOON)
    await store.used({KeyId("a"), KeyId("unknown")}, at=LATER)
    assert await store.find(KeyId("a")) == replace(_key("a", owner), last_used_at=LATER)
    assert await store.find(KeyId("b")) == _key("b", owner)


async def test_a_person_has_one_account_whatever_the_role(store: AccountsAndKeys) -> None:
    tenant = await store.tenant("acme", name="Acme", at=NOON)
    first = await store.person(tenant, "id.example|7", Role.TRAINEE, "李伟", at=NOON)
    assert await store.person(tenant, "id.example|7", Role.OPERATOR, None, at=LATER) == first
    assert (await store.account(tenant, "id.example|7", Role.TRAINEE, at=LATER)).id == first
    assert await store.person(tenant, "id.example|8", Role.TRAINEE, None, at=NOON) != first


async def test_a_person_seen_at_once_by_many_is_one(store: AccountsAndKeys) -> None:
    tenant = await store.tenant("acme", name="Acme", at=NOON)
    made = await asyncio.gather(
        *(store.person(tenant, "id.example|7", Role.TRAINEE, f"Li {number}", at=NOON) for number in range(8))
    )
    assert len(set(made)) == 1


async def test_there_is_no_person_without_a_tenant(store: AccountsAndKeys) -> None:
    with pytest.raises(AccountRefused):
        await store.person(uuid4(), "id.example|7", Role.TRAINEE, None, at=NOON)


@pytest.mark.postgres
async def test_a_person_is_called_as_the_latest_token_says(database_engine: AsyncEngine) -> None:
    store = PostgresAccounts(engine=database_engine)
    tenant = await store.tenant("acme", name="Acme", at=NOON)
    for name in ("Li", "Wang", "Wang"):
        await store.person(tenant, "id.example|7", Role.TRAINEE, name, at=NOON)
        async with database_engine.connect() as connection:
            found = await connection.execute(text("select display_name from accounts"))
        assert found.scalars().all() == [name]


@pytest.mark.postgres
async def test_a_database_that_is_away_makes_no_key_unknown() -> None:
    engine = postgres_engine("postgresql://nobody:nothing@127.0.0.1:1/nowhere")
    store = PostgresAccounts(engine=engine)
    owner = Account(UUID(int=1), UUID(int=2), Role.TRAINEE, "Li")
    with pytest.raises(KeysUnavailable):
        await store.find(KeyId("k"))
    with pytest.raises(KeysUnavailable):
        await store.add(_key("k", owner), at=NOON)
    with pytest.raises(KeysUnavailable):
        await store.revoke(owner.tenant, KeyId("k"), at=NOON)
    with pytest.raises(KeysUnavailable):
        await store.of_tenant(owner.tenant)
    with pytest.raises(KeysUnavailable):
        await store.tenant("acme", name="Acme", at=NOON)
    with pytest.raises(KeysUnavailable):
        await store.tenant_id("acme")
    with pytest.raises(KeysUnavailable):
        await store.account(owner.tenant, "Li", Role.TRAINEE, at=NOON)
    with pytest.raises(KeysUnavailable):
        await store.person(owner.tenant, "Li", Role.TRAINEE, None, at=NOON)
    with pytest.raises(KeysUnavailable):
        await store.used({KeyId("k")}, at=NOON)
    await engine.dispose()


@pytest.mark.postgres
async def test_a_database_without_tables_makes_no_key_unknown(empty_database_url: str) -> None:
    engine = postgres_engine(empty_database_url)
    with pytest.raises(KeysUnavailable):
        await PostgresAccounts(engine=engine).find(KeyId("k"))
    await engine.dispose()
