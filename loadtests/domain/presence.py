"""How many sessions were open at a time."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

from loadtests.domain.rows import Kind, Row

_BESIDE = frozenset({Kind.HOSTILE, Kind.AUDIT})


class Presence:
    """A session is open from the first of its requests to the end of its last; misdeeds and audits are none of them."""

    def __init__(self, rows: Iterable[Row]) -> None:
        spans: dict[tuple[int, str], tuple[float, float]] = {}
        for row in rows:
            if row.session and row.kind not in _BESIDE:
                key = (row.trainee, row.session)
                begins, ends = spans.get(key, (math.inf, -math.inf))
                spans[key] = (min(begins, row.started_s), max(ends, row.ended_s))
        self._begins = sorted(begins for begins, _ in spans.values())
        self._ends = sorted(ends for _, ends in spans.values())

    def at(self, moment_s: float) -> int:
        return bisect_right(self._begins, moment_s) - bisect_left(self._ends, moment_s)

    def within(self, from_s: float, to_s: float) -> int:
        """Sessions that were open at any time of the span."""
        return bisect_left(self._begins, to_s) - bisect_left(self._ends, from_s)

    @property
    def most(self) -> int:
        return max((self.at(moment_s) for moment_s in self._begins), default=0)

    def seconds_at(self) -> dict[int, float]:
        """How long how many were open."""
        moments = sorted({*self._begins, *self._ends})
        found: dict[int, list[float]] = {}
        for begins, ends in pairwise(moments):
            found.setdefault(self.at((begins + ends) / 2), []).append(ends - begins)
        return {level: math.fsum(lengths) for level, lengths in found.items()}
