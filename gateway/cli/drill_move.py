"""`drillyard drill move`: another time for a class."""

import asyncio
from datetime import timedelta
from typing import Annotated

import typer

from gateway.cli.connection import DEFAULT_DATA, BaseUrl, DataFolder, OneKey
from gateway.cli.drill_call import drill_path, instructor_client, plan_of
from gateway.cli.drill_show import DrillName
from gateway.cli.drill_table import tell
from gateway.cli.drill_when import At, In, Zone, bell, sent, zone
from gateway.cli.drill_wire import DrillView
from gateway.cli.failure import CommandFailed
from gateway.cli.time_words import span
from gateway.wiring.clock import SystemClock

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard drill move 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 --at '2026-12-01 10:00' --timezone Europe/Berlin\n\n"
    "  drillyard drill move 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 --by 30m\n\n"
    "  drillyard drill move 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 --by=-1h --for 2h\n\n"
    "  drillyard drill move 0b7a52d1-6f3c-4d3b-9a57-0b1f7f0f1c11 --for 90m\n\n"
    "It stays as long as it is, unless --for says otherwise; --for alone leaves its beginning. One class of a "
    "series moves alone."
)


def move(  # noqa: PLR0913 - one argument for each option of the command line
    drill: DrillName,
    *,
    at: At = None,
    after: In = None,
    by: Annotated[str | None, typer.Option(metavar="SPAN", help="So much later; with a minus, earlier.")] = None,
    timezone: Zone = None,
    lasting: Annotated[str | None, typer.Option("--for", metavar="SPAN", help="How long from now on.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    base_url: BaseUrl = None,
    key: OneKey = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Give a class another time."""
    anew = at is not None or after is not None
    if by is not None and anew:
        raise CommandFailed("--by, --at and --in say the same", advice="give one of them")
    if by is None and lasting is None and not anew:
        raise CommandFailed("it is not said what is to change", advice="give --by, --at, --in or --for")
    begins = bell(at, after, zone(timezone), now=SystemClock().now()) if anew else None
    later = _signed(by) if by is not None else timedelta()
    length = None if lasting is None else span(lasting)

    async def run() -> DrillView:
        async with instructor_client(base_url, key, data) as client:
            found = await client.read(drill_path(drill), DrillView)
            start = begins or found.starts_at + later
            end = start + (length or found.ends_at - found.starts_at)
            times = {"starts_at": sent(start), "ends_at": sent(end)}
            return await client.put(drill_path(drill), DrillView, {**plan_of(found), **times})

    tell(asyncio.run(run()), timezone, as_json=as_json)


def _signed(written: str) -> timedelta:
    text = written.strip()
    return -span(text[1:]) if text.startswith("-") else span(text)
