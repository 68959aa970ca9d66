"""What has left each replica just now, and still counts where the next session is placed.

When a replica is lost, its sessions move away, and by what is pinned it soon is the emptiest of all. Whoever has not
seen yet that it is lost would place one session after another there. So for a while nobody gets more attractive by
losing sessions to others; a session that has ended leaves its room at once.
"""

from collections.abc import Mapping

from router.domain.fleet import ReplicaId
from router.domain.pin import Demand, PinnedLoad

COUNTED_S = 5.0
"""From the last one that left; by then every router has looked at the replica itself."""
_NOTHING = PinnedLoad()


class Leavers:
    def __init__(self) -> None:
        self._left: dict[ReplicaId, tuple[float, PinnedLoad]] = {}

    def note(self, replica: ReplicaId, demand: Demand, now: float) -> None:
        self._forget(now)
        _, before = self._left.get(replica, (now, _NOTHING))
        self._left[replica] = now, PinnedLoad(before.sessions + 1, before.kv_tokens + demand.kv_tokens)

    def counted(self, loads: Mapping[ReplicaId, PinnedLoad], now: float) -> Mapping[ReplicaId, PinnedLoad]:
        """The loads as they are to be seen by a choice."""
        self._forget(now)
        return {**loads, **{each: _sum(loads.get(each, _NOTHING), left) for each, (_, left) in self._left.items()}}

    def _forget(self, now: float) -> None:
        self._left = {each: (at, left) for each, (at, left) in self._left.items() if at > now - COUNTED_S}


def _sum(one: PinnedLoad, other: PinnedLoad) -> PinnedLoad:
    return PinnedLoad(one.sessions + other.sessions, one.kv_tokens + other.kv_tokens)
