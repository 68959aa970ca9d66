"""What was seen of the servers, asked by time: who was up, who waited, how busy a process was."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from loadtests.domain.server import ProcessSample, ReplicaSample


def by_replica(samples: Sequence[ReplicaSample]) -> Mapping[str, list[ReplicaSample]]:
    """Each replica's looks, in the order of time."""
    found: dict[str, list[ReplicaSample]] = defaultdict(list)
    for sample in sorted(samples, key=lambda each: each.at_s):
        found[sample.replica].append(sample)
    return dict(found)


def by_process(samples: Sequence[ProcessSample]) -> Mapping[str, list[ProcessSample]]:
    found: dict[str, list[ProcessSample]] = defaultdict(list)
    for sample in sorted(samples, key=lambda each: each.at_s):
        found[sample.name].append(sample)
    return dict(found)


def up_at(looks: Mapping[str, Sequence[ReplicaSample]], at_s: float) -> set[str]:
    """Who was up at the last look before. Whoever had not been looked at was not there yet."""
    return {name for name, seen in looks.items() if (last := _last(seen, at_s)) is not None and last.up}


def all_up_from(looks: Mapping[str, Sequence[ReplicaSample]]) -> float | None:
    """When the last of those that were ever up came up for the first time; None when nobody was."""
    first = [next((look.at_s for look in seen if look.up), None) for seen in looks.values()]
    return max((at for at in first if at is not None), default=None)


def had_waiting(looks: Mapping[str, Sequence[ReplicaSample]], replica: str | None, at_s: float, until_s: float) -> bool:
    """Whether this replica (any, where it is not known which) had requests waiting in that time, or just around it."""
    asked = looks.values() if replica is None else [looks.get(replica, ())]
    return any(look.waiting for seen in asked for look in _around(seen, at_s, until_s))


def busy_spans(samples: Sequence[ProcessSample], *, speed_up: float, from_share: float) -> list[tuple[float, float]]:
    """When a process used so much of one core, between two looks. A process that was started anew counts from there."""
    return [
        (before.at_s, after.at_s)
        for before, after in pairwise(samples)
        if after.at_s > before.at_s and cpu_share(before, after, speed_up=speed_up) >= from_share
    ]


def cpu_share(before: ProcessSample, after: ProcessSample, *, speed_up: float) -> float:
    """Of one core, from one look to the next."""
    used = after.cpu_s - before.cpu_s if after.cpu_s >= before.cpu_s else after.cpu_s
    return used / ((after.at_s - before.at_s) / speed_up)


def _last(seen: Sequence[ReplicaSample], at_s: float) -> ReplicaSample | None:
    after = bisect_right(seen, at_s, key=lambda look: look.at_s)
    return seen[after - 1] if after else None


def _around(seen: Sequence[ReplicaSample], at_s: float, until_s: float) -> Sequence[ReplicaSample]:
    begin = bisect_right(seen, at_s, key=lambda look: look.at_s)
    end = bisect_right(seen, until_s, key=lambda look: look.at_s)
    return seen[max(0, begin - 1) : end + 1]
