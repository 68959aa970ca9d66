"""`drillyard drill add`: schedule a class, or classes that repeat."""

import asyncio
from datetime import timedelta
from typing import Annotated

import typer

from gateway.cli.api_client import ApiClient
from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_call import instructor_client
from gateway.cli.drill_plan import chosen
from gateway.cli.drill_table import tell
from gateway.cli.drill_when import At, In, Zone, bell, sent, zone
from gateway.cli.drill_wire import DrillView, SeriesView
from gateway.cli.failure import CommandFailed
from gateway.cli.time_words import span
from gateway.wiring.clock import SystemClock

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard drill add --scenario en --in 4m --for 45m --trainees 30\n\n"
    "  drillyard drill add --scenario zh --at '2026-12-01 09:00' --timezone Asia/Shanghai --for 90m --trainees 40\n\n"
    "  drillyard drill add --scenario en --every '0 9 * * MON' --timezone Europe/Berlin --for 45m --trainees 30 "
    "--until 2027-03-31\n\n"
    "With --every the classes repeat as cron says it (minute, hour, day, month, day of the week), by the clocks of the "
    "zone; each is a drill of its own. What is too much for the replicas is told as a warning."
)


def add(  # noqa: PLR0913 - one argument for each option of the command line
    *,
    scenario: Annotated[str | None, typer.Option(help="Id, locale or part of the title.")] = None,
    at: At = None,
    after: In = None,
    timezone: Zone = None,
    lasting: Annotated[str, typer.Option("--for", metavar="SPAN", help="How long: 45m, 1h30m.")] = "45m",
    trainees: Annotated[int, typer.Option(min=1, help="How many are expected.")],
    seats: Annotated[int | None, typer.Option(min=0, help="By default everybody has a seat.")] = None,
    walk_ins: Annotated[int, typer.Option(min=0, help="Who may come beyond the seats.")] = 0,
    name: Annotated[str | None, typer.Option(help="By default the scenario's title.")] = None,
    every: Annotated[str | None, typer.Option(metavar="CRON", help="Repeat it: '0 9 * * MON'.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="With --every: the last day.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="With --every: how many classes.")] = None,
    first_day: Annotated[str | None, typer.Option(metavar="DAY", help="With --every: by default from now on.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Schedule a class, or classes that repeat."""
    in_zone, length = zone(timezone), span(lasting)
    plan: dict[str, object] = {"expected_trainees": trainees, "seats": seats, "walk_ins": walk_ins}
    if every is None:
        if until is not None or count is not None or first_day is not None:
            raise CommandFailed("--until, --count and --first-day are of classes that repeat", advice="give --every")
        begins = bell(at, after, in_zone, now=SystemClock().now())
        plan |= {"starts_at": sent(begins), "ends_at": sent(begins + length)}
    else:
        if timezone is None or at is not None or after is not None:
            raise CommandFailed("--every goes with --timezone and without --at and --in")
        if length % timedelta(minutes=1):
            raise CommandFailed(f"--for {lasting}: classes that repeat take whole minutes", advice="such as --for 45m")
        plan |= {"cron": every, "timezone": timezone, "minutes": length // timedelta(minutes=1)}
        plan |= {"until": until, "count": count, "first_day": first_day}

    async def run() -> DrillView | SeriesView:
        async with instructor_client(base_url, key, data) as client:
            return await _scheduled(client, scenario, name, plan)

    tell(asyncio.run(run()), timezone, as_json=as_json)


async def _scheduled(
    client: ApiClient, scenario: str | None, name: str | None, plan: dict[str, object]
) -> DrillView | SeriesView:
    found = chosen(await client.scenarios(), scenario, default=None)
    body = {"name": name or found.title, "scenario_id": found.id, **plan}
    if "cron" in plan:
        return await client.write("/v1/drill-series", SeriesView, body)
    return await client.write("/v1/drills", DrillView, body)
