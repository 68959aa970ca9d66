"""`drillyard drill series`: classes that repeat, and the end of them."""

import asyncio
from typing import Annotated

import typer

from gateway.cli.api_client import path_part
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_call import instructor_client
from gateway.cli.drill_table import tell
from gateway.cli.drill_when import Zone
from gateway.cli.drill_wire import SeriesView

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard drill series 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11\n\n"
    "  drillyard drill series 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 --cancel\n\n"
    "`drillyard drill add --every` makes one. Times are shown in the zone of the series."
)


def series(  # noqa: PLR0913 - one argument for each option of the command line
    name: Annotated[str, typer.Argument(metavar="SERIES", help="Its id, as `drillyard drill show` tells it.")],
    *,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel its classes that have not begun.")] = False,
    timezone: Zone = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show the classes of a series, or cancel those that are to come."""
    path = f"/v1/drill-series/{path_part(name)}"

    async def run() -> SeriesView:
        async with instructor_client(base_url, key, data) as client:
            if cancel:
                return await client.write(f"{path}/cancel", SeriesView, None)
            return await client.read(path, SeriesView)

    tell(asyncio.run(run()), timezone, as_json=as_json)
