"""Finds the costs of a profile that explain measured times best: least squares of the relative error."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from loadtests.simulator.domain.profile import DecodeCost, PrefillCost
from loadtests.simulator.domain.timing import Chunk, chunk_ms, decode_ms

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FirstToken:
    """One measured turn: its prompt's tokens, and when the first of the reply was there."""

    uncached: int
    cached: int
    ms: float


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a token took while so many streams ran."""

    streams: int
    ms: float


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a law explains what was measured."""

    kept: int
    dropped: int
    median_error: float
    """A share of the measured time."""
    largest_error: float


class NotEnoughMeasured(ValueError):
    """The measurements do not differ in what the law depends on, so they say nothing about it."""


def fit_prefill(measured: Sequence[FirstToken]) -> tuple[PrefillCost, Quality]:
    def terms(turn: FirstToken) -> tuple[float, ...]:
        return 1.0, turn.uncached, turn.uncached * (turn.cached + turn.uncached / 2)

    def law(factors: Sequence[float]) -> PrefillCost:
        base_ms, per_token_ms, per_pair_ms = factors
        return PrefillCost(base_ms, per_token_ms, per_pair_ms)

    def error(cost: PrefillCost, turn: FirstToken) -> float:
        return chunk_ms(cost, Chunk(turn.uncached, turn.cached, opens=True)) / turn.ms - 1

    return _robust(measured, lambda turns: law(_factors([terms(t) for t in turns], [t.ms for t in turns])), error)


def fit_decode(measured: Sequence[Pace]) -> tuple[DecodeCost, Quality]:
    def law(paces: Sequence[Pace]) -> DecodeCost:
        weights_ms, per_sequence_ms = _factors([(1.0, pace.streams) for pace in paces], [pace.ms for pace in paces])
        return DecodeCost(weights_ms, per_sequence_ms)

    return _robust(measured, law, lambda cost, pace: decode_ms(cost, pace.streams) / pace.ms - 1)


L = TypeVar("L")


def _robust(
    measured: Sequence[T], law: Callable[[Sequence[T]], L], error: Callable[[L, T], float]
) -> tuple[L, Quality]:
    """Fit, leave out what another process on the machine has obviously disturbed, and fit again."""
    first = law(measured)
    errors = [abs(error(first, one)) for one in measured]
    bound = max(0.05, 4 * median(errors))
    kept = [one for one, deviation in zip(measured, errors, strict=True) if deviation <= bound]
    second = law(kept)
    left = [abs(error(second, one)) for one in kept]
    return second, Quality(len(kept), len(measured) - len(kept), median(left), max(left))


def _factors(rows: Sequence[tuple[float, ...]], values: Sequence[float]) -> list[float]:
    """No cost is below nothing: a term whose factor would be is left out."""
    used = list(range(len(rows[0]))) if rows else []
    while True:
        solved = _solve([[row[term] for term in used] for row in rows], values)
        lowest = min(range(len(used)), key=lambda place: solved[place])
        if solved[lowest] >= 0:
            return [solved[used.index(term)] if term in used else 0.0 for term in range(len(rows[0]))]
        del used[lowest]


def _solve(rows: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Weighted by one through the value squared, so that short and long times count alike."""
    if not rows or any(value <= 0 for value in values):
        raise NotEnoughMeasured("nothing was measured")
    scaled = [[term / value for term in row] for row, value in zip(rows, values, strict=True)]
    size = len(scaled[0])
    # Terms differ by six orders of magnitude; each is brought to its own largest value first.
    scale = [max(abs(row[column]) for row in scaled) or 1.0 for column in range(size)]
    unit = [[row[column] / scale[column] for column in range(size)] for row in scaled]
    matrix = [
        [sum(row[i] * row[j] for row in unit) for j in range(size)] + [sum(row[i] for row in unit)] for i in range(size)
    ]
    return [factor / scale[column] for column, factor in enumerate(_eliminate(matrix))]


def _eliminate(matrix: list[list[float]]) -> list[float]:
    """Gauss and Jordan, with the largest pivot first."""
    size = len(matrix)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(matrix[row][column]))
        if abs(matrix[pivot][column]) < 1e-9 * size:
            raise NotEnoughMeasured("the measurements are too much alike")
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        matrix[column] = [entry / matrix[column][column] for entry in matrix[column]]
        for row in range(size):
            if row != column:
                factor = matrix[row][column]
                matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[column], strict=True)]
    return [row[-1] for row in matrix]
