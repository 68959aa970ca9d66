"""What earlier starts of replicas tell: how long one takes, and whether to pause before the next one."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, inf

from router.fleet.domain.pool_rules import PoolRules

ENOUGH = 5
"""With fewer starts than these nothing counts as measured."""

_SHARE = 0.95
_MOST_DOUBLINGS = 20


@dataclass(frozen=True, slots=True)
class PastStart:
    """One start that has come to its end, from the order until the replica was warm or had failed."""

    began: float
    ended: float
    went_warm: bool


def measured_start_s(starts: Iterable[PastStart]) -> float | None:
    """The 95th percentile (nearest rank) from order to warm; None while too few were seen."""
    spans = sorted(start.ended - start.began for start in starts if start.went_warm)
    return spans[ceil(_SHARE * len(spans)) - 1] if len(spans) >= ENOUGH else None


def next_start_at(starts: Iterable[PastStart], rules: PoolRules) -> float:
    """The moment from which a start may be tried; long past where the last one went well."""
    in_a_row, last = 0, -inf
    for start in sorted(starts, key=lambda start: (start.ended, start.went_warm)):
        in_a_row, last = (0, -inf) if start.went_warm else (in_a_row + 1, start.ended)
    return last + min(rules.longest_retry_s, rules.retry_s * 2.0 ** min(max(0, in_a_row - 1), _MOST_DOUBLINGS))
