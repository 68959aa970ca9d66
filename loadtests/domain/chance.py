"""Times that differ as people's do, and are the same again: drawn from `Dice` by inverse transform."""

import math
from statistics import NormalDist

from loadtests.domain.dice import Dice

_STEPS = 2**53
_NORMAL = NormalDist()


def share(dice: Dice) -> float:
    """Evenly above 0 and below 1."""
    return (dice.below(_STEPS - 1) + 1) / _STEPS


def log_normal(dice: Dice, *, median: float, sigma: float) -> float:
    """0 where the median is 0."""
    return median * math.exp(sigma * _NORMAL.inv_cdf(share(dice)))


def log_normal_of_mean(dice: Dice, *, mean: float, sigma: float) -> float:
    return log_normal(dice, median=mean * math.exp(-sigma * sigma / 2), sigma=sigma)


def shuffled(dice: Dice, count: int) -> list[int]:
    """The numbers below `count` in an order of chance."""
    numbers = list(range(count))
    for last in range(count - 1, 0, -1):
        other = dice.below(last + 1)
        numbers[last], numbers[other] = numbers[other], numbers[last]
    return numbers
