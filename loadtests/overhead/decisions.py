"""What the router's decisions cost by themselves, in microseconds: `python -m loadtests.overhead.decisions`."""

import sys
from collections.abc import Callable, Mapping
from timeit import repeat

from router.domain.fleet import AffinityKey, Fleet, Health, Replica, ReplicaId
from router.domain.pin import Demand, Pin, PinMode, PinnedLoad
from router.domain.placement import choose, place
from router.domain.rendezvous import favourite

_ROUNDS = 5
_MODEL = "model"
_KEY = AffinityKey("model\nsession")


def measure(*, replicas: int = 300, times: int = 1_000) -> Mapping[str, float]:
    """The best of some rounds each, since what disturbs only adds."""
    return {name: _microseconds(decision, times) for name, decision in _decisions(replicas).items()}


def _decisions(count: int) -> Mapping[str, Callable[[], object]]:
    names = tuple(ReplicaId(f"replica-{number}.pool.svc:8000") for number in range(count))
    serves = frozenset({_MODEL})
    fleet = Fleet(tuple(Replica(name, f"http://{name}", Health.READY, models=serves) for name in names))
    even = {name: PinnedLoad(33, 66_000) for name in names}
    uneven = {name: PinnedLoad(33, 66_000 + number * 7919 % 9_973) for number, name in enumerate(names)}
    demand, holders, pin = Demand(2_000, "scenario"), frozenset(names[::7]), Pin(names[0], 1)

    def placed(pinned: Pin | None, *away: ReplicaId) -> object:
        return place(fleet, _MODEL, pinned, blocked=away[:1], full=away[1:], mode=PinMode.SOFT)

    def chosen(loads: Mapping[ReplicaId, PinnedLoad], *held: ReplicaId) -> object:
        return choose(names, loads, demand=demand, holders=holders if held else (), bound=1.1, start=12_345)

    return {
        "place: pin kept": lambda: placed(pin),
        "place: new session": lambda: placed(None),
        "place: new session, one blocked and one full": lambda: placed(None, names[-1], names[0]),
        "choose: uneven loads": lambda: chosen(uneven),
        "choose: even loads": lambda: chosen(even),
        "choose: uneven loads, cohort held by a seventh": lambda: chosen(uneven, names[0]),
        "rendezvous": lambda: favourite(_KEY, names),
    }


def _microseconds(decision: Callable[[], object], times: int) -> float:
    return min(repeat(decision, number=times, repeat=_ROUNDS)) / times * 1e6


def main() -> None:
    for name, microseconds in measure().items():
        sys.stdout.write(f"{microseconds:8.1f} us  {name}\n")


if __name__ == "__main__":
    main()
