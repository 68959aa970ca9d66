"""How many replicas a pool should have, from seats over time; and where it may not have as many.

The rule is one formula. Let `need(u)` be the replicas that the seats at moment `u` take, and `later(x)` how many more
can be begun after now and still be warm `x` seconds from now. Then the pool wants, at moment `t`,

    wanted(t) = max over all u >= t of  need(u) - later(u - t)

Inside the lead nothing may be put off: `later(x) = 0` for `x <= ahead_s`. Before it the backend carries
`starts_at_once` starts, each of which is given `start_s`, and the last of them are begun `last_s` before the bell, so
that one that fails can be done again: `later(x) = starts_at_once * ceil((x - last_s) / start_s)`.
A class that the lead cannot start in full therefore gets its first replicas earlier, in waves, just early enough that
the last wave is warm at the bell, also after a failure; classes that follow each other closely share the waves. Dips
that are shorter than a start are filled, since a replica stopped there would not be back in time to be worth it.

The formula is a maximum of sums, hence more seats never make it want fewer replicas; and it knows nothing of what runs,
hence asking twice gives one answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.steps import Block, Steps, filled, highest


@dataclass(frozen=True, slots=True)
class Lead:
    start_s: float
    """What one start is given."""
    last_s: float
    """How long before a bell the last starts are begun: as long as a start and those in its place may take."""
    ahead_s: float
    """How long before its bell a replica is wanted at the latest."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """A span in which the seats need more replicas than the pool may have."""

    begins: float
    ends: float
    needs: int
    allows: int

    @override
    def __str__(self) -> str:
        return f"needs {self.needs} replicas, the pool allows {self.allows}"


def lead(rules: PoolRules, measured_s: float | None) -> Lead:
    start_s = (rules.unmeasured_start_s if measured_s is None else measured_s) * rules.safety
    last_s = start_s * (1 + rules.spare_starts)
    return Lead(start_s=start_s, last_s=last_s, ahead_s=max(rules.lead_s, last_s))


def replicas_for(seats: int, rules: PoolRules) -> int:
    """What that many seats take, without reserve and without regard to what the pool may have."""
    return -(-seats // rules.seats_per_replica)


def need(seats: Steps, rules: PoolRules) -> Steps:
    """Replicas that have to be warm, with the reserve, as far as the pool may have them."""

    def replicas(count: int) -> int:
        return min(rules.maximum, replicas_for(count, rules) + rules.reserve) if count else 0

    return seats.mapped(replicas)


def wanted(needed: Steps, rules: PoolRules, ahead: Lead) -> Steps:
    """Replicas to be there or on their way; never fewer than the pool's minimum."""
    early = (wave for block in needed.blocks() for wave in _waves(block, rules, ahead))
    steps = filled(highest(early), gap_s=ahead.start_s)
    return steps.mapped(lambda replicas: max(rules.minimum, replicas))


def shortages(seats: Steps, rules: PoolRules) -> tuple[Shortage, ...]:
    """Where the pool is too small, in the order of time; a reserve that finds no room is none."""
    return tuple(
        Shortage(block.begins, block.ends, needs=block.height, allows=rules.maximum)
        for block in seats.mapped(lambda count: replicas_for(count, rules)).blocks()
        if block.height > rules.maximum
    )


def reach_s(rules: PoolRules, ahead: Lead) -> float:
    """How long after a moment a bell may lie that has a say in how many replicas are wanted at it."""
    waves = -(-rules.maximum // rules.starts_at_once)
    return max(ahead.ahead_s, ahead.last_s + waves * ahead.start_s) + ahead.start_s


def _waves(block: Block, rules: PoolRules, ahead: Lead) -> Iterator[Block]:
    """Since when how many of the block's replicas have to be wanted: all from the lead on, and before it only those for
    which the starts that still fit in come too late.
    """
    yield Block(block.begins - ahead.ahead_s, block.ends, block.height)
    left, wave = block.height - rules.starts_at_once, 1
    while left > 0:
        begins = block.begins - ahead.last_s - wave * ahead.start_s
        yield Block(begins, block.ends, left)
        left, wave = left - rules.starts_at_once, wave + 1
