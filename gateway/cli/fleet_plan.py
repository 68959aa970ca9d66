"""`drillyard fleet plan`: replicas over the next hours, drawn."""

import asyncio
from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, StaffConnection, operator_connection
from gateway.cli.drill_view import console
from gateway.cli.fleet_call import operator_client
from gateway.cli.fleet_plan_view import plan_lines, state_lines
from gateway.cli.fleet_plan_wire import FleetPlanView

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard fleet plan\n\n"
    "  drillyard fleet plan --hours 168\n\n"
    "  drillyard fleet plan --json | jq '.pools[].shortages'\n\n"
    "Times are this machine's. Where the seats need more replicas than the pool allows, the rest is shaded."
)


def plan(
    *,
    hours: Annotated[int, typer.Option(min=1, max=168, help="How far ahead.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show replicas over the next hours, as the calendar wants them."""

    async def run(told: StaffConnection) -> FleetPlanView:
        async with operator_client(told) as client:
            return await client.read("/v1/fleet/plan", FleetPlanView, hours=str(hours))

    found = asyncio.run(run(operator_connection(base_url=base_url, key=key, data=data)))
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
        return
    screen = console()
    for line in state_lines(found):
        screen.print(line, markup=False, soft_wrap=True)
    for pool in found.pools:
        screen.print()
        for line in plan_lines(pool, found, screen.width):
            screen.print(line, markup=False, soft_wrap=True)
