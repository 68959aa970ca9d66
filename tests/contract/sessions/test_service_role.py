"""The role that the service steps down to is there again after a backup was brought back on another server."""

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import text

from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.transaction import begun
from sessions.migrations import upgrade
from tests.support.postgres_fixture import libpq_url


@pytest.fixture
def elsewhere(empty_database_url: str) -> Iterator[str]:
    """A migrated database on a server without the role; what it granted went to a role of another name."""
    upgrade(empty_database_url)
    with psycopg.connect(libpq_url(empty_database_url), autocommit=True) as connection:
        connection.execute("alter role drillyard_service rename to drillyard_service_before")
        try:
            yield empty_database_url
        finally:
            connection.execute("drop owned by drillyard_service")
            connection.execute("drop role drillyard_service")
            connection.execute("alter role drillyard_service_before rename to drillyard_service")


async def test_a_superuser_steps_down_on_a_new_server_too(elsewhere: str) -> None:
    upgrade(elsewhere)
    engine = postgres_engine(elsewhere)
    async with begun(engine) as running:
        (who,) = await running.all(text("select current_user"))
        assert await running.all(text("select id from sessions")) == []
    await engine.dispose()
    assert who.current_user == "drillyard_service"
