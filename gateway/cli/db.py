"""`drillyard db`: the schema of the database."""

import typer

from gateway.cli.database import DatabaseUrl, database_url

app = typer.Typer(
    help="Prepare the database.", add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False
)


@app.callback()
def _group() -> None:
    """Prepare the database."""


@app.command(epilog="Example:\n\n  DRILLYARD_DATABASE_URL=postgresql://user@host/drillyard drillyard db migrate")
def migrate(url: DatabaseUrl = None) -> None:
    """Bring the schema to the version of this program; safe to repeat, and safe beside running servers."""
    database = database_url(url)
    from sessions.migrations import upgrade  # noqa: PLC0415 - Alembic is slow to import

    upgrade(database)
    typer.echo("the database is up to date")
