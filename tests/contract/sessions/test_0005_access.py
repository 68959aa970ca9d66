"""Rows that the version before writes go on: keys for everything, accounts without another name."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.support.records_world import HERE, NOON, settle

pytestmark = pytest.mark.postgres


async def test_a_key_as_the_version_before_writes_it_is_for_everything(database_engine: AsyncEngine) -> None:
    await settle(database_engine)
    row = {"tenant": HERE.tenant, "account": HERE.trainee, "secret": bytes(32), "at": NOON}
    async with database_engine.begin() as connection:
        await connection.execute(
            text(
                "insert into api_keys (id, tenant_id, account_id, secret_sha256, created_at)"
                " values ('k', :tenant, :account, :secret, :at)"
            ),
            row,
        )
        found = await connection.execute(text("select label, scopes, last_used_at from api_keys"))
        assert found.all() == [(None, None, None)]
        names = await connection.execute(text("select display_name from accounts"))
        assert set(names.scalars()) == {None}
