"""How the commands for drills call the API, as an instructor, and print what it says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import typer

from gateway.cli.api_client import Api, ApiClient, path_part
from gateway.cli.api_faults import ApiRefused
from gateway.cli.connection import instructor_connection
from gateway.cli.drill_wire import DrillView
from gateway.cli.printable import printable


@asynccontextmanager
async def instructor_client(base_url: str | None, key: str | None, data: Path) -> AsyncIterator[ApiClient]:
    told = instructor_connection(base_url=base_url, key=key, data=data)
    async with Api(base_url=told.base_url) as api:
        try:
            yield api.as_holder_of(told.key)
        except ApiRefused as refused:
            faults = refused.faults if len(refused.faults) > 1 else ()  # a single one is the refusal itself
            for place, detail in faults:
                typer.echo(printable(f"{place}: {detail}"), err=True)
            raise


def drill_path(drill: str) -> str:
    return f"/v1/drills/{path_part(drill)}"


async def scenario_of(client: ApiClient, drill: str) -> str:
    """The id of what the class plays."""
    return (await client.read(drill_path(drill), DrillView)).scenario_id


def plan_of(drill: DrillView) -> dict[str, object]:
    """What a `PUT` takes to leave it as it is."""
    return {
        "name": drill.name,
        "scenario_id": drill.scenario_id,
        "expected_trainees": drill.expected_trainees,
        "seats": drill.seats,
        "walk_ins": drill.walk_ins,
        "turns_in_flight": drill.turns_in_flight,
    }
