"""How long a new key lives, as an operator writes it."""

import re
from datetime import timedelta

from gateway.cli.failure import CommandFailed

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
LONGEST = timedelta(days=3650)


def lifetime(written: str) -> timedelta:
    """Such as 45m, 12h, 90d or 8w; raises `CommandFailed`."""
    found = re.fullmatch(r"([0-9]{1,6})([mhdw])", written.strip().lower(), re.ASCII)
    span = int(found[1]) * _UNITS[found[2]] if found is not None else timedelta()
    if not timedelta() < span <= LONGEST:
        raise CommandFailed(
            f"{written!r} is no lifetime of a key", advice="write it as 45m, 12h, 90d or 8w, at most 3650d"
        )
    return span
