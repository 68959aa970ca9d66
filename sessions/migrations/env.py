"""Runs the steps on the connection that `run.upgrade` opened."""

from alembic import context
from sqlalchemy import Connection, text

from sessions.migrations.service_role import SERVICE_ROLE

# A step that cannot have its lock soon gives up, rather than let every query of the live system queue up behind it.
_LOCK_TIMEOUT = "5s"
_STATEMENT_TIMEOUT = "120s"


def _run(connection: Connection) -> None:
    connection.execute(text(f"set lock_timeout = '{_LOCK_TIMEOUT}'"))
    connection.execute(text(f"set statement_timeout = '{_STATEMENT_TIMEOUT}'"))
    connection.execute(text("set drillyard.tenant = '*'"))  # steps work on the rows of all tenants
    connection.commit()
    context.configure(connection=connection, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()
    for statement in SERVICE_ROLE:
        connection.execute(text(statement))
    connection.commit()


_run(context.config.attributes["connection"])
