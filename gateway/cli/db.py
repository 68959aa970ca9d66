"""`drillyard db`: the schema of the database."""

import typer

from gateway.cli.connection import DEFAULT_DATA, DataFolder
from gateway.cli.database import DatabaseUrl, database_url
from gateway.cli.failure import CommandFailed
from sessions.errors import RecordsUnavailable

app = typer.Typer(
    help="Prepare the database.", add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False
)


@app.callback()
def _group() -> None:
    """Prepare the database."""


@app.command(epilog="Example:\n\n  DRILLYARD_DATABASE_URL=postgresql://user@host/drillyard drillyard db migrate")
def migrate(url: DatabaseUrl = None, data: DataFolder = DEFAULT_DATA) -> None:
    """Bring the schema to the version of this program; safe to repeat, and safe beside running servers."""
    database = database_url(url, data=data)
    from sessions.migrations import upgrade  # noqa: PLC0415 - Alembic is slow to import

    try:
        upgrade(database)
    except RecordsUnavailable as error:
        raise CommandFailed(" ".join(str(error).split()), advice="is it running, and may we sign in?") from error
    typer.echo("the database is up to date")
