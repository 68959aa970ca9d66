"""What the looks at replicas and processes add up to. Counters that fall have begun anew, and count from nothing."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from loadtests.domain.server import ProcessSample, ReplicaSample


@dataclass(frozen=True, slots=True)
class Increase:
    """Seen at a look: so many more than at the look before."""

    at_s: float
    by: float


@dataclass(frozen=True, slots=True)
class ReplicaUse:
    """Of one replica; None: it never said."""

    replica: str
    present_s: float
    """From the first look to the last; nothing of one that was never up."""
    preemptions: tuple[Increase, ...] | None
    kv_usage: tuple[tuple[float, float], ...]
    """At which time which share of the blocks was held."""


@dataclass(frozen=True, slots=True)
class FleetUse:
    replicas: Mapping[str, ReplicaUse]

    @property
    def replica_seconds(self) -> float | None:
        return math.fsum(each.present_s for each in self.replicas.values()) if self.replicas else None

    def of(self, *replicas: str) -> "FleetUse":
        return FleetUse({name: use for name, use in self.replicas.items() if name in replicas})

    def preemptions(self, *, from_s: float = -math.inf, to_s: float = math.inf) -> int | None:
        """Within that time; None where nobody counts them."""
        told = [use.preemptions for use in self.replicas.values() if use.preemptions is not None]
        return round(sum(each.by for use in told for each in use if from_s <= each.at_s < to_s)) if told else None

    def kv_usage_most(self, *, from_s: float = -math.inf, to_s: float = math.inf) -> float | None:
        looks = (look for use in self.replicas.values() for look in use.kv_usage)
        return max((usage for at_s, usage in looks if from_s <= at_s < to_s), default=None)


def fleet_use(samples: Iterable[ReplicaSample]) -> FleetUse:
    by_replica: dict[str, list[ReplicaSample]] = {}
    for sample in sorted(samples, key=lambda sample: sample.at_s):
        by_replica.setdefault(sample.replica, []).append(sample)
    return FleetUse({replica: _use(replica, looks) for replica, looks in sorted(by_replica.items())})


def process_use(samples: Iterable[ProcessSample]) -> tuple[dict[str, float], dict[str, float]]:
    """CPU seconds and most memory, by the name of the process."""
    by_name: dict[str, list[ProcessSample]] = {}
    for sample in sorted(samples, key=lambda sample: sample.at_s):
        by_name.setdefault(sample.name, []).append(sample)
    cpu_s = {
        name: math.fsum(each.by for each in _increases([(look.at_s, look.cpu_s) for look in looks]))
        for name, looks in sorted(by_name.items())
    }
    return cpu_s, {name: max(look.memory_mb for look in looks) for name, looks in sorted(by_name.items())}


def _use(replica: str, looks: Sequence[ReplicaSample]) -> ReplicaUse:
    was_up = any(look.up for look in looks)
    return ReplicaUse(
        replica=replica,
        present_s=looks[-1].at_s - looks[0].at_s if was_up else 0.0,
        preemptions=_counted(looks, lambda look: look.preemptions),
        kv_usage=tuple((look.at_s, look.kv_usage) for look in looks if look.kv_usage is not None),
    )


def _counted(
    looks: Sequence[ReplicaSample], counter: Callable[[ReplicaSample], int | None]
) -> tuple[Increase, ...] | None:
    told = [(look.at_s, float(value)) for look in looks if (value := counter(look)) is not None]
    return tuple(_increases(told)) if told else None


def _increases(told: Sequence[tuple[float, float]]) -> list[Increase]:
    return [Increase(at_s, now - before if now >= before else now) for (_, before), (at_s, now) in pairwise(told)]
