"""A class as a closed queue: N trainees who think, ask, wait for the whole reply, and think again.

One station serves j turns at once at a rate r(j) turns a second; thinking takes Z seconds on average and everybody
thinks at once. The number of turns in flight is then a birth-death chain with the stationary weights

    w(0) = 1,   w(j) = w(j-1) x (N - j + 1) / (Z r(j))

which is the exact solution of the machine-repairman model and of load-dependent mean value analysis for this network.
It holds for any distribution of think times, and of service where turns share the station. Source: Reiser and
Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", JACM 27(2), 1980; Lazowska et al., "Quantitative
System Performance", 1984, on load-dependent service centers.
"""

from collections.abc import Callable
from itertools import accumulate
from math import exp, log


def in_flight(trainees: int, *, think_s: float, rate: Callable[[int], float]) -> tuple[float, ...]:
    """The probability of 0, 1, ..., `trainees` turns in flight at any moment."""
    # Logarithms, since a large class makes weights that no float holds.
    steps = (log((trainees - count + 1) / (think_s * rate(count))) for count in range(1, trainees + 1))
    logs = list(accumulate(steps, initial=0.0))
    top = max(logs)
    shares = [exp(one - top) for one in logs]
    total = sum(shares)
    return tuple(share / total for share in shares)


def found_in_flight(trainees: int, *, think_s: float, rate: Callable[[int], float]) -> tuple[float, ...]:
    """How many turns of others a trainee's message finds: by the arrival theorem, what a class without that trainee
    has."""
    return in_flight(trainees - 1, think_s=think_s, rate=rate)


def quantile(shares: tuple[float, ...], at: float) -> int:
    """The smallest number that at least `at` of the probability does not exceed."""
    sums = accumulate(shares)
    return next((number for number, so_far in enumerate(sums) if so_far >= at), len(shares) - 1)
