"""How much a figure of a run would change if other trainees of the same kind had come: a bootstrap over units.

The turns of one session are not independent of each other, so whole sessions are drawn, with replacement, as many as
there were; each draw is a row of counts, one for each session. From these any figure can be had without copying turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 64
"""Draws that are worked on together; more would need much memory for a long run."""

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Times:
    """Values in rising order, and the unit that each belongs to."""

    values: Floats
    unit: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Ratio:
    """A share or a mean: two sums of each unit, one divided by the other."""

    over: Floats
    under: Floats


def times(values: Sequence[Sequence[float]]) -> Times:
    """From the values of each unit."""
    flat = np.array([value for each in values for value in each], dtype=np.float64)
    unit = np.repeat(np.arange(len(values)), [len(each) for each in values])
    order = np.argsort(flat, kind="stable")
    return Times(flat[order], unit[order])


def drawn(units: Sequence[int], *, draws: int, seed: str) -> Counts:
    """Draws for a side whose runs have so many units each; each run keeps its number. Equal seeds draw alike."""
    dice = np.random.default_rng(int.from_bytes(sha256(seed.encode()).digest()[:8], "big"))
    runs = [dice.multinomial(count, np.full(count, 1 / count), size=draws) for count in units if count]
    return np.concatenate(runs, axis=1) if runs else np.zeros((draws, 0), dtype=np.int64)


def runs_alone(units: Sequence[int]) -> Counts:
    """As if drawn: each run by itself, every unit once."""
    run_of = np.repeat(np.arange(len(units)), units)
    alone: Counts = (run_of[np.newaxis, :] == np.arange(len(units))[:, np.newaxis]).astype(np.int64)
    return alone


def percentile(counts: Counts, of: Times, thousandths: int) -> Floats:
    """The nearest-rank percentile of each draw; not a number where a draw has no value."""
    found = np.full(len(counts), np.nan)
    for begin in range(0, len(counts), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        until = np.cumsum(counts[part][:, of.unit], axis=1)
        total = until[:, -1] if until.shape[1] else np.zeros(len(until), dtype=np.int64)
        rank = np.maximum(1, -(-thousandths * total // 1000))
        at = (until < rank[:, np.newaxis]).sum(axis=1)
        has_any = total > 0
        found[part][has_any] = of.values[at[has_any]]
    return found


def ratio(counts: Counts, of: Ratio) -> Floats:
    """Of each draw; not a number where there is nothing to divide by."""
    over, under = counts @ of.over, counts @ of.under
    found: Floats = np.divide(over, under, out=np.full(len(counts), np.nan), where=under > 0)
    return found
