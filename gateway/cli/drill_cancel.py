"""`drillyard drill cancel`: a class that is not held."""

import asyncio

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_call import drill_path, instructor_client
from gateway.cli.drill_show import DrillName
from gateway.cli.drill_table import tell
from gateway.cli.drill_wire import DrillView

EXAMPLES = (
    "Example:\n\n  drillyard drill cancel 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11\n\n"
    "No new session begins in it; those that run go on. All that is left of a series: `drillyard drill series ... "
    "--cancel`."
)


def cancel(drill: DrillName, *, base_url: BaseUrl = None, key: OneKey = None, data: DataFolder = DEFAULT_DATA) -> None:
    """Cancel a class; twice is nothing."""

    async def run() -> DrillView:
        async with instructor_client(base_url, key, data) as client:
            return await client.write(f"{drill_path(drill)}/cancel", DrillView, None)

    tell(asyncio.run(run()), None)
