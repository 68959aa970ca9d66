"""Which database a command works on."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import PostgresDsn, TypeAdapter, ValidationError

from gateway.cli.connection import read_ready
from gateway.cli.failure import CommandFailed

VARIABLE = "DRILLYARD_DATABASE_URL"

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        envvar=VARIABLE,
        show_default=False,
        help="postgresql://user:password@host/name; by default the one of the stack running from --data.",
    ),
]


def database_url(given: str | None, *, data: Path) -> str:
    """The URL given, or that of the stack running here; never repeated in a message, since it may hold a password."""
    if given is None and (ready := read_ready(data)) is not None:
        given = ready.database_url
    if not given:
        raise CommandFailed("no database is named", advice=f"set {VARIABLE} or give --database-url")
    try:
        TypeAdapter(PostgresDsn).validate_python(given)
    except ValidationError:
        raise CommandFailed(
            "the database URL cannot be read", advice="write it as postgresql://user:password@host/name"
        ) from None
    return given
