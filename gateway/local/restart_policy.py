"""When a dead server is started again, and when that is given up: decided from the moments it died."""

from dataclasses import dataclass

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 10.0
WINDOW_S = 60.0
MOST_DEATHS = 5


@dataclass(frozen=True, slots=True)
class Restart:
    after_s: float
    deaths: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class GiveUp:
    deaths: int


def after_death(earlier: tuple[float, ...], *, now: float) -> Restart | GiveUp:
    """Deaths further back than the window are forgotten, and with them the patience they cost."""
    deaths = (*(at for at in earlier if now - at <= WINDOW_S), now)
    if len(deaths) > MOST_DEATHS:
        return GiveUp(deaths=len(deaths))
    return Restart(after_s=min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (len(deaths) - 1)), deaths=deaths)
