"""One real Postgres for the whole run; each test has a migrated database of its own, copied from a template."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.local.postgres_server import postgres_server
from sessions.adapters.postgres.engine import postgres_engine
from sessions.migrations import upgrade


@dataclass(frozen=True, slots=True)
class PostgresTemplate:
    """A running server with one migrated database that is only ever copied."""

    server_url: str
    template: str

    def url(self, database: str) -> str:
        return make_url(self.server_url).set(database=database).render_as_string(hide_password=False)

    @contextmanager
    def copy(self) -> Iterator[str]:
        """The address of a fresh copy, which is dropped at the end whoever is still connected."""
        name = f"test_{uuid4().hex}"
        self._administer(
            sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(self.template))
        )
        try:
            yield self.url(name)
        finally:
            self._administer(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))

    @contextmanager
    def empty(self) -> Iterator[str]:
        """The address of a database without any table."""
        with PostgresTemplate(self.server_url, "template0").copy() as url:
            yield url

    def _administer(self, statement: sql.Composed) -> None:
        with psycopg.connect(libpq_url(self.url("postgres")), autocommit=True) as connection:
            connection.execute(statement)


def libpq_url(database_url: str) -> str:
    """The address as psycopg itself takes it, without SQLAlchemy's driver name."""
    return make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def postgres_template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresTemplate]:
    with postgres_server(tmp_path_factory.mktemp("postgres"), fsync=False) as server:
        # The server's own database serves as the template.
        upgrade(server.url)
        yield PostgresTemplate(server.url, make_url(server.url).database or "postgres")


@pytest.fixture
def database_url(postgres_template: PostgresTemplate) -> Iterator[str]:
    """A migrated, empty database."""
    with postgres_template.copy() as url:
        yield url


@pytest.fixture
def empty_database_url(postgres_template: PostgresTemplate) -> Iterator[str]:
    """A database without any table."""
    with postgres_template.empty() as url:
        yield url


@pytest.fixture
async def database_engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    made = postgres_engine(database_url)
    yield made
    await made.dispose()
