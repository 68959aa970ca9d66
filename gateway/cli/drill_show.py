"""`drillyard drill show`: one class, and what it asks of the replicas."""

import asyncio
from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_call import drill_path, instructor_client
from gateway.cli.drill_table import tell
from gateway.cli.drill_when import Zone
from gateway.cli.drill_wire import DrillView

EXAMPLES = "Example:\n\n  drillyard drill show 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11"

DrillName = Annotated[str, typer.Argument(metavar="DRILL", help="Its id, as `drillyard drill list` shows it.")]


def show(
    drill: DrillName,
    *,
    timezone: Zone = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show one class, and what it asks of the replicas."""

    async def run() -> DrillView:
        async with instructor_client(base_url, key, data) as client:
            return await client.read(drill_path(drill), DrillView)

    tell(asyncio.run(run()), timezone, as_json=as_json)
