"""`drillyard drill list`: the class calendar."""

import asyncio
from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_call import instructor_client
from gateway.cli.drill_table import drill_table
from gateway.cli.drill_view import console
from gateway.cli.drill_when import Zone, sent, written_moment, zone
from gateway.cli.drill_wire import DrillView
from gateway.cli.wire import Page
from gateway.wiring.clock import SystemClock

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard drill list\n\n"
    "  drillyard drill list --from 2026-12-01 --to 2026-12-08 --timezone Europe/Berlin\n\n"
    "By default all that are not over and will be held, by their bells; with --from or --to the cancelled ones too."
)
_MOST = 1000


def list_drills(  # noqa: PLR0913 - one argument for each option of the command line
    *,
    since: Annotated[str | None, typer.Option("--from", metavar="MOMENT", help="A day, or a day and a time.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="A day, or a day and a time.")] = None,
    timezone: Zone = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """List the classes that are to come, or those of a span of time."""
    in_zone = zone(timezone)

    def moment(written: str) -> str:
        return sent(
            written_moment(f"{written} 00:00" if len(written.strip()) == len("2026-12-01") else written, in_zone)
        )

    begin = moment(since) if since is not None else sent(SystemClock().now())
    end = moment(until) if until is not None else None

    async def run() -> list[DrillView]:
        async with instructor_client(base_url, key, data) as client:
            return await client.every("/v1/drills", Page[DrillView], most=_MOST, **{"from": begin, "to": end})

    found = asyncio.run(run())
    if as_json:
        typer.echo(Page[DrillView](items=tuple(found)).model_dump_json(indent=2, include={"items"}))
        return
    held = [drill for drill in found if drill.state == "scheduled"] if since is None and until is None else found
    console().print(drill_table(held, in_zone), markup=False)
    counted = "1 drill" if len(held) == 1 else f"{len(held)} drills"
    left = len(found) - len(held)
    ended = f"; {left} cancelled or archived, see --from" if left else ""
    typer.echo(counted + ended + (", and more" if len(found) == _MOST else ""))
