"""`drillyard fleet status`: what is ready for the next bell, who looks after the fleet, and where each replica is."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from gateway.cli.api_client import ApiClient
from gateway.cli.api_faults import ApiFault
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, StaffConnection, operator_connection
from gateway.cli.drill_view import console
from gateway.cli.failure import INTERRUPTED, CommandFailed
from gateway.cli.fleet_call import operator_client
from gateway.cli.fleet_plan_view import is_well, pools_table, replicas_table, state_lines
from gateway.cli.fleet_plan_wire import FleetPlanView

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard fleet status\n\n"
    "  drillyard fleet status --watch\n\n"
    "  drillyard fleet status --json | jq '.pools[].next_bell'\n\n"
    "Leaves with 0 when every pool is looked after and has what its seats need, and with 1 when a pool is short or "
    "nobody looks after the fleet. Bells of the next 24 hours are told."
)
HOURS = 24
LOOK_EVERY_S = 2.0

Look = Callable[[], Awaitable[FleetPlanView]]


def status(
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Go on, and redraw every two seconds.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Show what is ready for the next bell, and what is missing."""
    screen = console()
    if watch and (as_json or not screen.is_terminal):
        raise CommandFailed("--watch redraws a terminal", advice="leave it out to see the state once")

    async def run(told: StaffConnection) -> bool:
        async with operator_client(told) as client:
            if watch:
                await watched(screen, lambda: _look(client))
            found = await _look(client)
            if as_json:
                typer.echo(found.model_dump_json(indent=2))
            else:
                screen.print(shown(found))
            return is_well(found)

    try:
        well = asyncio.run(run(operator_connection(base_url=base_url, key=key, data=data)))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(0 if well else 1)


async def watched(screen: Console, look: Look) -> None:
    """Never returns. A server that is away for a moment is told, and asked again."""
    with Live(console=screen, auto_refresh=False) as live:
        while True:
            try:
                live.update(shown(await look()), refresh=True)
            except ApiFault as fault:
                live.update(Text(f"{fault.detail}; trying again"), refresh=True)
            await asyncio.sleep(LOOK_EVERY_S)


def shown(plan: FleetPlanView) -> RenderableType:
    parts: list[RenderableType] = [Text(line) for line in state_lines(plan)]
    if plan.pools:
        parts.append(pools_table(plan))
    if any(pool.replicas for pool in plan.pools):
        parts.append(replicas_table(plan))
    return Group(*parts)


async def _look(client: ApiClient) -> FleetPlanView:
    return await client.read("/v1/fleet/plan", FleetPlanView, hours=str(HOURS))
