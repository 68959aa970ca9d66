"""The last prompt of each session this process has served lately: what it takes to move a session warm.

Bounded by bytes; the session that was silent longest is forgotten first. The bodies are kept as they are: they are the
very objects that were sent, so remembering one costs no copy. Packing them would cost a thousand times as much (0.3 ms
for 30 kB) in the path of a turn.
"""

from collections import OrderedDict
from typing import Final

from router.domain.exchange import Call
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand

# What an entry takes beside its body: the call, the key, the place in the order.
_ENTRY_BYTES: Final = 600


class RecentPrompts:
    """Keys are those of the pin store."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[AffinityKey, tuple[Call, Demand | None, ReplicaId | None]] = OrderedDict()
        self._bytes = 0

    @property
    def size_bytes(self) -> int:
        return self._bytes

    def __len__(self) -> int:
        return len(self._kept)

    def remember(
        self, key: AffinityKey, call: Call, demand: Demand | None = None, replica: ReplicaId | None = None
    ) -> None:
        """`replica` is where the turn ended."""
        self.forget(key)
        size = len(call.body) + _ENTRY_BYTES
        if size > self._limit_bytes:
            return
        self._kept[key] = (call, demand, replica)
        self._bytes += size
        while self._bytes > self._limit_bytes:
            _, (oldest, _, _) = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body) + _ENTRY_BYTES

    def get(self, key: AffinityKey) -> Call | None:
        kept = self._kept.get(key)
        return None if kept is None else kept[0]

    def demand(self, key: AffinityKey) -> Demand | None:
        """What the session's turn asked of its replica, where that was told."""
        kept = self._kept.get(key)
        return None if kept is None else kept[1]

    def last_at(self, replica: ReplicaId) -> list[AffinityKey]:
        """The sessions whose last turn of this process ended there."""
        return [key for key, (_, _, at) in self._kept.items() if at == replica]

    def forget(self, key: AffinityKey) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= len(kept[0].body) + _ENTRY_BYTES
