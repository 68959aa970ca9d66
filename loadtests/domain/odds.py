"""Exact odds of counts: how sure a share is after so many trials, and whether two counts differ by luck alone."""

import math

_HALVINGS = 60


def at_most(events: int, trials: int, share: float) -> float:
    """The chance of so many events or fewer among independent trials that each have this chance."""
    if events >= trials or share <= 0:
        return 1.0
    if share >= 1 or events < 0:
        return 0.0
    return min(1.0, math.fsum(_exactly(each, trials, share) for each in range(events + 1)))


def at_least(events: int, trials: int, share: float) -> float:
    """The chance of so many events or more."""
    return at_most(trials - events, trials, 1 - share)


def upper_bound(events: int, trials: int, confidence: float) -> float:
    """Clopper and Pearson's one-sided bound: the share that would show so few events with the rest of `confidence`."""
    if events >= trials:
        return 1.0
    low, high = events / trials, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if at_most(events, trials, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def trials_needed(events: int, share: float, confidence: float) -> int:
    """The fewest trials after which so many events prove, at this confidence, that the share is not exceeded."""
    few, many = events, max(1, events)
    while at_most(events, many, share) > 1 - confidence:
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        if at_most(events, middle, share) > 1 - confidence:
            few = middle
        else:
            many = middle
    return many


def fisher(one: tuple[int, int], other: tuple[int, int]) -> float:
    """Fisher's exact two-sided chance that two counts, each `(events, trials)`, differ so much or more by luck."""
    (hits, tried), (others, other_tried) = one, other
    total, events = tried + other_tried, hits + others
    lowest, highest = max(0, events - other_tried), min(events, tried)

    def logarithm(first: int) -> float:
        return _choose(tried, first) + _choose(other_tried, events - first) - _choose(total, events)

    seen = logarithm(hits) + 1e-9
    chances = (logarithm(first) for first in range(lowest, highest + 1))
    return min(1.0, math.fsum(math.exp(each) for each in chances if each <= seen))


def _exactly(events: int, trials: int, share: float) -> float:
    return math.exp(_choose(trials, events) + events * math.log(share) + (trials - events) * math.log1p(-share))


def _choose(many: int, few: int) -> float:
    return math.lgamma(many + 1) - math.lgamma(few + 1) - math.lgamma(many - few + 1)
