"""Whether a replica answers a fixed question as the others of its pool do.

An answer is the pool's once two different replicas gave it; until one is, the first that was heard counts. So a first
replica that is broken is outvoted by the next two, and where two kinds of devices word one answer differently, both
come to be the pool's, at the price of one failed start for the second kind.

Two replicas that are broken in the same way would persuade the pool. What a canary finds is the one that is unlike the
others: weights that were damaged when they were loaded, a device that computes wrongly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from router.domain.fleet import ReplicaId

MOST_ANSWERS: Final = 8
"""That are kept; an engine that never answers the same twice must not fill a table."""


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """One answer, as a digest, and the first replica that gave it."""

    answer: str
    witness: ReplicaId
    is_confirmed: bool = False
    """Another replica gave it too."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """What is known after one more answer, and what became of it."""

    known: tuple[KnownAnswer, ...]
    is_right: bool
    outvoted: ReplicaId | None = None
    """The replica whose answer counted until now, and does no more."""


def heard(known: Sequence[KnownAnswer], answer: str, replica: ReplicaId) -> Hearing:
    now = _with(known, answer, replica)
    lost = _counting(known) - _counting(now)
    return Hearing(now, answer in _counting(now), known[0].witness if lost else None)


def _counting(known: Sequence[KnownAnswer]) -> frozenset[str]:
    """The answers that are the pool's."""
    confirmed = frozenset(one.answer for one in known if one.is_confirmed)
    return confirmed or frozenset(one.answer for one in known[:1])


def _with(known: Sequence[KnownAnswer], answer: str, replica: ReplicaId) -> tuple[KnownAnswer, ...]:
    if all(one.answer != answer for one in known):
        return _bounded((*known, KnownAnswer(answer, replica)))
    return tuple(
        replace(one, is_confirmed=True) if one.answer == answer and one.witness != replica else one for one in known
    )


def _bounded(known: tuple[KnownAnswer, ...]) -> tuple[KnownAnswer, ...]:
    """Without the oldest of those that do not count, if there are too many."""
    if len(known) <= MOST_ANSWERS:
        return known
    idle = next((place for place, one in enumerate(known[:-1]) if place and not one.is_confirmed), 0)
    return (*known[:idle], *known[idle + 1 :])
