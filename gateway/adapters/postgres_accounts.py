"""Tenants, accounts and API keys in Postgres.

The tables belong to the migrations of the records, which share the database; only what is used of them is named here.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Row, Select, Text, column, func, not_, or_, select, table, text, update
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from typing_extensions import override

from gateway.access_ports import KeyLedger
from gateway.domain.access import LIVE_KEYS, KeyId, Principal, Role, StoredKey
from gateway.domain.scopes import read_scopes, written_scopes
from gateway.errors import AccountRefused, KeysUnavailable, TooManyKeys
from gateway.ports import Account, Accounts, Keys
from sessions.tenant_wall import EVERY_TENANT, STEP, Side, side_of

_tenants = table("tenants", column("id"), column("slug"), column("name"), column("created_at"))
_accounts = table(
    "accounts",
    column("id"),
    column("tenant_id"),
    column("role"),
    column("name"),
    column("created_at"),
    column("display_name"),
)
_keys = table(
    "api_keys",
    column("id"),
    column("tenant_id"),
    column("account_id"),
    column("secret_sha256"),
    column("created_at"),
    column("expires_at"),
    column("revoked_at"),
    column("label"),
    column("scopes", ARRAY(Text)),
    column("last_used_at"),
)


class PostgresAccounts(Accounts, Keys, KeyLedger):
    """All three ports over one engine; what takes longer than `limit_s` is given up."""

    def __init__(self, *, engine: AsyncEngine, limit_s: float = 10.0, new_id: Callable[[], UUID] = uuid4) -> None:
        self._engine = engine
        self._limit_s = limit_s
        self._new_id = new_id

    @override
    async def tenant(self, slug: str, *, name: str, at: datetime) -> UUID:
        # Written first and read afterwards: whoever loses a race finds the winner's row.
        async with self._transaction(EVERY_TENANT) as connection:
            await connection.execute(
                insert(_tenants)
                .values(id=self._new_id(), slug=slug, name=name, created_at=at)
                .on_conflict_do_nothing(index_elements=["slug"])
            )
            found: UUID = (await connection.execute(_tenant_named(slug))).scalar_one()
        return found

    @override
    async def tenant_id(self, slug: str) -> UUID | None:
        async with self._transaction(EVERY_TENANT) as connection:
            found: UUID | None = (await connection.execute(_tenant_named(slug))).scalar_one_or_none()
        return found

    @override
    async def account(self, tenant: UUID, name: str, role: Role, *, at: datetime) -> Account:
        async with self._transaction(side_of(tenant)) as connection:
            await connection.execute(
                insert(_accounts)
                .values(id=self._new_id(), tenant_id=tenant, role=role.value, name=name, created_at=at)
                .on_conflict_do_nothing(index_elements=["tenant_id", "name"])
            )
            row = (
                await connection.execute(
                    select(_accounts).where(_accounts.c.tenant_id == tenant, _accounts.c.name == name)
                )
            ).one()
        if row.role != role:
            raise AccountRefused(f"the account {name!r} exists and is of the role {row.role}")
        return Account(row.id, row.tenant_id, role, row.name)

    @override
    async def person(self, tenant: UUID, name: str, role: Role, display_name: str | None, *, at: datetime) -> UUID:
        named = (_accounts.c.tenant_id == tenant, _accounts.c.name == name)
        is_called_so = _accounts.c.display_name.is_not_distinct_from(display_name)
        made = insert(_accounts).values(
            id=self._new_id(),
            tenant_id=tenant,
            role=role.value,
            name=name,
            created_at=at,
            display_name=display_name,
        )
        async with self._transaction(side_of(tenant)) as connection:
            await connection.execute(made.on_conflict_do_nothing(index_elements=["tenant_id", "name"]))
            await connection.execute(
                update(_accounts).where(*named, not_(is_called_so)).values(display_name=display_name)
            )
            found: UUID = (await connection.execute(select(_accounts.c.id).where(*named))).scalar_one()
        return found

    @override
    async def find(self, key: KeyId) -> StoredKey | None:
        if "\x00" in key:  # no such key can be stored, and Postgres would call the question itself an error
            return None
        async with self._transaction(EVERY_TENANT) as connection:
            row = (await connection.execute(_keys_with_owners().where(_keys.c.id == key))).one_or_none()
        return None if row is None else _stored_key(row)

    @override
    async def add(self, key: StoredKey, *, at: datetime) -> None:
        owner = (_keys.c.tenant_id == key.principal.tenant, _keys.c.account_id == key.principal.account)
        async with self._transaction(side_of(key.principal.tenant)) as connection:
            # Whoever makes another key of this account at the same time waits here, and then counts this one.
            await connection.execute(
                select(_accounts.c.id).where(_accounts.c.id == key.principal.account).with_for_update(key_share=True)
            )
            living = await connection.execute(select(func.count()).select_from(_keys).where(*owner, *_is_live(at)))
            if living.scalar_one() >= LIVE_KEYS:
                raise TooManyKeys(limit=LIVE_KEYS)
            await connection.execute(
                insert(_keys).values(
                    id=key.id,
                    tenant_id=key.principal.tenant,
                    account_id=key.principal.account,
                    secret_sha256=key.secret_sha256,
                    created_at=at,
                    expires_at=key.expires_at,
                    revoked_at=key.revoked_at,
                    label=key.label,
                    scopes=written_scopes(key.principal.scopes),
                )
            )

    @override
    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        if "\x00" in key:
            return False
        async with self._transaction(side_of(tenant)) as connection:
            revoked = await connection.execute(
                update(_keys).where(_keys.c.tenant_id == tenant, _keys.c.id == key, *_is_live(at)).values(revoked_at=at)
            )
        return revoked.rowcount == 1

    @override
    async def used(self, keys: Collection[KeyId], *, at: datetime) -> None:
        async with self._transaction(EVERY_TENANT) as connection:
            await connection.execute(update(_keys).where(_keys.c.id.in_(keys)).values(last_used_at=at))

    @override
    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        async with self._transaction(side_of(tenant)) as connection:
            rows = await connection.execute(
                _keys_with_owners().where(_keys.c.tenant_id == tenant).order_by(_keys.c.created_at, _keys.c.id)
            )
        return [(_stored_key(row), Account(row.account_id, row.tenant_id, Role(row.role), row.name)) for row in rows]

    @asynccontextmanager
    async def _transaction(self, side: Side) -> AsyncIterator[AsyncConnection]:
        try:
            async with asyncio.timeout(self._limit_s), self._engine.begin() as connection:
                await connection.execute(text(STEP), {"side": side})
                yield connection
        except IntegrityError as error:
            raise AccountRefused("there is a key of this id already, or no such account or tenant") from error
        except (DataError, UnicodeEncodeError) as error:
            raise AccountRefused("the database cannot hold this value") from error
        except (DBAPIError, PoolTimeout, TimeoutError) as error:
            # Keys that cannot be looked up for whatever reason, a missing table too, must never count as unknown keys.
            raise KeysUnavailable("the keys cannot be looked up now") from error


def _tenant_named(slug: str) -> Select[Any]:
    return select(_tenants.c.id).where(_tenants.c.slug == slug)


def _is_live(at: datetime) -> tuple[ColumnElement[bool], ...]:
    return _keys.c.revoked_at.is_(None), or_(_keys.c.expires_at.is_(None), _keys.c.expires_at > at)


def _keys_with_owners() -> Select[Any]:
    return select(_keys, _accounts.c.role, _accounts.c.name).join_from(
        _keys, _accounts, (_accounts.c.tenant_id == _keys.c.tenant_id) & (_accounts.c.id == _keys.c.account_id)
    )


def _stored_key(row: Row[Any]) -> StoredKey:
    return StoredKey(
        id=row.id,
        secret_sha256=bytes(row.secret_sha256),
        principal=Principal(row.tenant_id, row.account_id, Role(row.role), scopes=read_scopes(row.scopes)),
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        label=row.label,
        last_used_at=row.last_used_at,
    )
