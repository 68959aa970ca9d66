"""`drillyard drill import`: classes out of a table or a calendar."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_call import instructor_client
from gateway.cli.drill_plan import chosen
from gateway.cli.drill_table import import_lines
from gateway.cli.drill_view import console
from gateway.cli.drill_when import zone
from gateway.cli.drill_wire import ImportView
from gateway.cli.failure import CommandFailed

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard drill import spring.csv --timezone Europe/Berlin --dry-run\n\n"
    "  drillyard drill import school.ics --scenario 'angry customer' --trainees 30 --source school\n\n"
    "All of a file is taken over, or nothing and every reason is told with its line. The same file again changes "
    "nothing, a changed row moves its class. With --prune what the file no longer holds is cancelled; --source says "
    "which file it is."
)
_MEDIA_TYPES = {".csv": "text/csv", ".ics": "text/calendar", ".ical": "text/calendar"}


def import_file(  # noqa: PLR0913 - one argument for each option of the command line
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or an .ics file.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Cancel what the file no longer holds.")] = False,
    source: Annotated[str, typer.Option(help="Which file it is, whenever it is read again.")] = "import",
    scenario: Annotated[
        str | None, typer.Option(help="Of rows that name none: id, locale or part of the title.")
    ] = None,
    trainees: Annotated[int | None, typer.Option(min=1, help="Of rows that say no number.")] = None,
    minutes: Annotated[int | None, typer.Option(min=1, help="Of rows without an end.")] = None,
    timezone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Of times that name none, such as Europe/Berlin.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Take classes over from a table or a calendar."""
    raw, media_type, in_zone = _read(file), _media_type(file), zone(timezone)
    asked = {"trainees": trainees, "minutes": minutes, "timezone": timezone}
    given = {name: str(value) for name, value in asked.items() if value is not None}
    given |= {"source": source, "dry_run": str(dry_run).lower(), "prune": str(prune).lower()}

    async def run() -> ImportView:
        async with instructor_client(base_url, key, data) as client:
            if scenario is not None:
                given["scenario"] = chosen(await client.scenarios(), scenario, default=None).id
            return await client.upload("/v1/drills/import", ImportView, raw, media_type=media_type, **given)

    told = asyncio.run(run())
    if as_json:
        typer.echo(told.model_dump_json(indent=2))
        return
    for line in import_lines(told, in_zone):
        console().print(line, markup=False, soft_wrap=True)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}") from error


def _media_type(file: Path) -> str:
    found = _MEDIA_TYPES.get(file.suffix.lower())
    if found is None:
        raise CommandFailed(f"{file} is neither a table nor a calendar", advice="give a .csv or an .ics file")
    return found
