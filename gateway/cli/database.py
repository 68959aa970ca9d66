"""Which database a command works on."""

from typing import Annotated

import typer

from gateway.cli.failure import CommandFailed

VARIABLE = "DRILLYARD_DATABASE_URL"

DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database-url", envvar=VARIABLE, show_envvar=True, help="postgresql://user:password@host/name"),
]


def database_url(given: str | None) -> str:
    if not given:
        raise CommandFailed("no database is named", advice=f"set {VARIABLE} or give --database-url")
    return given
