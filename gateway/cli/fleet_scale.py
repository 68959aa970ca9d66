"""`drillyard fleet scale`: more replicas than the calendar wants, for a time."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer

from gateway.cli.api_client import ApiClient, path_part
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey, StaffConnection, operator_connection
from gateway.cli.failure import CommandFailed
from gateway.cli.fleet_call import operator_client
from gateway.cli.fleet_plan_view import floor_text
from gateway.cli.fleet_plan_wire import PoolFloorView
from gateway.cli.time_words import moment, span
from gateway.wiring.clock import SystemClock

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard fleet scale Qwen/Qwen2.5-7B-Instruct 4 --for 2h --reason 'a rehearsal'\n\n"
    "  drillyard fleet scale smollm2-135m-instruct 2 --until '2026-12-01 18:00'\n\n"
    "  drillyard fleet scale smollm2-135m-instruct --back\n\n"
    "The pool then has so many replicas at least. What the calendar wants beyond them comes all the same, up to what "
    "the pool allows. Moments without a zone are this machine's. All operators see the reason."
)


def scale(  # noqa: PLR0913 - one argument for each option of the command line
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The pool, as `drillyard fleet status` shows it.")],
    replicas: Annotated[int | None, typer.Argument(min=1, metavar="N", help="Replicas at least.")] = None,
    *,
    until: Annotated[
        str | None, typer.Option(metavar="MOMENT", help="When the calendar alone decides again; by default at --back.")
    ] = None,
    lasting: Annotated[str | None, typer.Option("--for", metavar="SPAN", help="The same, as 90m or 2h.")] = None,
    reason: Annotated[str, typer.Option(help="Why, for other operators.")] = "",
    back: Annotated[bool, typer.Option("--back", help="Take it back.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Have more replicas of a pool than the calendar wants."""
    if back == (replicas is not None):
        raise CommandFailed("this takes either a number of replicas or --back")
    ends = _end(until, lasting, now=SystemClock().now())

    async def run(told: StaffConnection) -> PoolFloorView:
        async with operator_client(told) as client:
            return await _ordered(client, model, replicas, ends, reason)

    found = asyncio.run(run(operator_connection(base_url=base_url, key=key, data=data)))
    typer.echo(f"{found.model}: {'the calendar alone decides' if found.floor is None else floor_text(found.floor)}")


async def _ordered(
    client: ApiClient, model: str, replicas: int | None, ends: datetime | None, reason: str
) -> PoolFloorView:
    path = f"/v1/fleet/pools/{path_part(model)}/scale"
    if replicas is None:
        return await client.delete(path, PoolFloorView)
    until = None if ends is None else ends.astimezone(UTC).isoformat()
    return await client.write(path, PoolFloorView, {"replicas": replicas, "until": until, "reason": reason})


def _end(until: str | None, lasting: str | None, *, now: datetime) -> datetime | None:
    if until is not None and lasting is not None:
        raise CommandFailed("--until and --for say the same", advice="give one of them")
    if lasting is not None:
        return now + span(lasting)
    return None if until is None else moment(until)
