"""The limits that operators have set, in Postgres.

The tables belong to the migrations of the records, which share the database; only what is used of them is named here.
In a column 0 stands for no limit, and null for a limit that is inherited.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Row, TableClause, and_, column, delete, select, table, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from typing_extensions import override

from gateway.domain.access import Role
from gateway.domain.limit_layers import NAMES, UNLIMITED, Own, OwnLimits, TenantOwn, is_set, settings_of
from gateway.errors import AccountNotFound
from gateway.limit_ports import AccountOwn, LimitStore
from sessions.errors import RecordsUnavailable
from sessions.tenant_wall import STEP, side_of

_accounts = table("accounts", column("id"), column("tenant_id"), column("role"))
_of_tenants = table("tenant_limits", column("tenant_id"), column("sessions"), *(column(name) for name in NAMES))
_of_accounts = table("account_limits", column("account_id"), column("tenant_id"), *(column(name) for name in NAMES))


class PostgresLimits(LimitStore):
    """What takes longer than `limit_s` is given up: turns wait for it."""

    def __init__(self, *, engine: AsyncEngine, limit_s: float = 2.0) -> None:
        self._engine = engine
        self._limit_s = limit_s

    @override
    async def of_tenant(self, tenant: UUID) -> TenantOwn:
        async with self._transaction(tenant) as connection:
            row = (await connection.execute(select(_of_tenants).where(_of_tenants.c.tenant_id == tenant))).one_or_none()
        return TenantOwn() if row is None else TenantOwn(_own(row), _read(row.sessions))

    @override
    async def of_account(self, tenant: UUID, account: UUID) -> AccountOwn | None:
        mine = and_(_of_accounts.c.tenant_id == _accounts.c.tenant_id, _of_accounts.c.account_id == _accounts.c.id)
        wanted = (
            select(_accounts.c.role, *(_of_accounts.c[name] for name in NAMES))
            .select_from(_accounts.outerjoin(_of_accounts, mine))
            .where(_accounts.c.tenant_id == tenant, _accounts.c.id == account)
        )
        async with self._transaction(tenant) as connection:
            row = (await connection.execute(wanted)).one_or_none()
        return None if row is None else AccountOwn(Role(row.role), _own(row))

    @override
    async def set_tenant(self, tenant: UUID, own: TenantOwn) -> None:
        values = {**_written(settings_of(own.accounts)), "sessions": _write(own.sessions)}
        await self._put(_of_tenants, {"tenant_id": tenant}, values if is_set(own) else None)

    @override
    async def set_account(self, tenant: UUID, account: UUID, own: OwnLimits) -> None:
        if await self.of_account(tenant, account) is None:
            raise AccountNotFound("there is no such account")
        values = _written(settings_of(own)) if is_set(own) else None
        await self._put(_of_accounts, {"tenant_id": tenant, "account_id": account}, values)

    async def _put(self, rows: TableClause, key: Mapping[str, UUID], values: Mapping[str, int | None] | None) -> None:
        """The row of this key with these values, or none at all."""
        mine = and_(*(rows.c[name] == value for name, value in key.items()))
        async with self._transaction(key["tenant_id"]) as connection:
            if values is None:
                await connection.execute(delete(rows).where(mine))
            else:
                writing = insert(rows).values({**key, **values})
                by = ["account_id"] if "account_id" in key else ["tenant_id"]
                await connection.execute(writing.on_conflict_do_update(index_elements=by, set_=dict(values)))

    @asynccontextmanager
    async def _transaction(self, tenant: UUID) -> AsyncIterator[AsyncConnection]:
        try:
            async with asyncio.timeout(self._limit_s), self._engine.begin() as connection:
                await connection.execute(text(STEP), {"side": side_of(tenant)})
                yield connection
        except IntegrityError as error:
            raise AccountNotFound("there is no such account or tenant") from error
        except (DBAPIError, PoolTimeout, TimeoutError) as error:
            raise RecordsUnavailable("the limits cannot be looked up now") from error


def _own(row: Row[Any]) -> OwnLimits:
    return OwnLimits(**{name: _read(getattr(row, name)) for name in NAMES})


def _read(stored: int | None) -> Own:
    return UNLIMITED if stored == 0 else stored


def _written(settings: Mapping[str, Own]) -> dict[str, int | None]:
    return {name: _write(own) for name, own in settings.items()}


def _write(own: int | Literal["unlimited"] | None) -> int | None:
    return 0 if own == UNLIMITED else own
