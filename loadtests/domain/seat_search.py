"""How many seats a fleet has at a first-token time: which class to play next, by those that were played."""

from collections.abc import Sequence
from dataclasses import dataclass

_UP = 1.5
_DOWN = 0.5
_FINE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A class of so many was played; `held`: with the first-token time that was agreed, and no turn failed."""

    seats: int
    held: bool
    ttft_p95_s: float | None = None


def proven(trials: Sequence[Trial]) -> int:
    """The largest class that held, of those below the smallest that did not."""
    missed = _smallest_missed(trials)
    return max((each.seats for each in trials if each.held and (missed is None or each.seats < missed)), default=0)


def next_seats(trials: Sequence[Trial], *, most: int) -> int | None:
    """Half as many again until a class misses, half until one holds, then the middle of the two; None: known to 5 %.

    No class is larger than `most`.
    """
    held, missed = proven(trials), _smallest_missed(trials)
    if missed is None:
        wanted = min(most, max(held + 1, int(held * _UP)))
        return wanted if wanted > held else None
    if not held:
        wanted = int(missed * _DOWN)
        return wanted or None
    if missed - held <= max(1, held * _FINE):
        return None
    return (held + missed) // 2


def _smallest_missed(trials: Sequence[Trial]) -> int | None:
    return min((each.seats for each in trials if not each.held), default=None)
