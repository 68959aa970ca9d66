"""When a class is, as people write it on a command line and read it in a table."""

from datetime import UTC, datetime, tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from gateway.cli.failure import CommandFailed
from gateway.cli.time_words import moment, span
from sessions.domain.zone import read_moment, zone_of

_LAST_YEAR = 9998
At = Annotated[
    str | None, typer.Option("--at", metavar="MOMENT", help="When it begins: '2026-12-01 09:00', or with an offset.")
]
In = Annotated[str | None, typer.Option("--in", metavar="SPAN", help="The same, from now: 4m, 1h30m, 2d.")]
Zone = Annotated[
    str | None,
    typer.Option(
        "--timezone", metavar="ZONE", help="Such as Europe/Berlin; by default this machine's.", show_default=False
    ),
]


def zone(name: str | None) -> ZoneInfo | None:
    """None: this machine's. Raises `CommandFailed`."""
    found = zone_of(name) if name is not None else None
    if name is not None and found is None:
        raise CommandFailed(f"there is no time zone {name!r}", advice="write it as Europe/Berlin")
    return found


def bell(at: str | None, after: str | None, in_zone: ZoneInfo | None, *, now: datetime) -> datetime:
    """In UTC; raises `CommandFailed`."""
    if (at is None) == (after is None):
        raise CommandFailed("when it begins is said by one of --at and --in", advice="such as --in 4m")
    if after is not None:
        return (now + span(after)).astimezone(UTC)
    begins = written_moment(at or "", in_zone)
    if begins.year > _LAST_YEAR:
        raise CommandFailed(f"{at!r} is too far away", advice=f"no class begins after the year {_LAST_YEAR}")
    return begins


def written_moment(written: str, in_zone: ZoneInfo | None) -> datetime:
    """In UTC; raises `CommandFailed`."""
    if in_zone is None:
        return moment(written).astimezone(UTC)
    try:
        return read_moment(written.strip(), in_zone)
    except ValueError as error:
        raise CommandFailed(f"{written!r} is no moment", advice=str(error)) from None


def sent(at: datetime) -> str:
    """As the API takes it."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def clock(at: datetime, in_zone: tzinfo | None) -> str:
    """As the clocks there show it."""
    return f"{at.astimezone(in_zone):%a %Y-%m-%d %H:%M %Z}"


def both_clocks(at: datetime, in_zone: tzinfo | None) -> str:
    here = clock(at, in_zone)
    return here if here.endswith(" UTC") else f"{here} ({at.astimezone(UTC):%Y-%m-%d %H:%M} UTC)"
