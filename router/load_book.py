"""What runs at each replica as far as this router knows: its own reservations, and what the engines say beside them.

A place is taken in the step that chooses the replica, and given back exactly once. What an engine runs beyond this
router's own turns (those of other routers, people at its port) counts as `outside`: the difference between its count
and ours at the moment it was asked, which holds until it is asked again. The KV of a turn is an estimate from above; an
engine that tells how full its cache is corrects the sum in either direction. What an engine does not tell is not
considered: unknown is not zero.
"""

from collections.abc import Callable, Iterable, Mapping, Set

from router.domain.engine_metrics import EngineMetrics
from router.domain.fleet import Replica, ReplicaId


class _Load:
    """One replica's."""

    __slots__ = ("capacity", "kv_correction", "kv_tokens", "outside", "streams", "window")

    def __init__(self) -> None:
        self.streams = 0
        self.kv_tokens = 0
        self.outside = 0
        self.kv_correction = 0
        self.capacity: int | None = None
        self.window: int | None = None


class Reservation:
    """A place at a replica; `release` gives it back, once."""

    __slots__ = ("_book", "kv_tokens", "replica")

    def __init__(self, book: "LoadBook", *, replica: ReplicaId, kv_tokens: int) -> None:
        self._book: LoadBook | None = book
        self.replica = replica
        self.kv_tokens = kv_tokens

    def release(self) -> None:
        book, self._book = self._book, None
        if book is not None:
            book.give_back(self)


class LoadBook:
    """`freed` is called whenever a replica has room after something there has ended."""

    def __init__(self, *, max_in_flight: int, kv_share: float, freed: Callable[[], None] = lambda: None) -> None:
        self._max_in_flight = max_in_flight
        self._kv_share = kv_share
        self._freed = freed
        self._loads: dict[ReplicaId, _Load] = {}
        self._full: set[ReplicaId] = set()

    @property
    def full(self) -> Set[ReplicaId]:
        """The replicas without room; always as of now, so do not keep it over an `await`."""
        return self._full

    def reserve(self, replica: ReplicaId, kv_tokens: int) -> Reservation:
        """Take a place, whether or not there is room: who may go where is the caller's decision."""
        load = self._load(replica)
        if load.window is not None:
            # A caller may ask for any number; what does not fit the window is refused, and holds nothing.
            kv_tokens = min(kv_tokens, load.window)
        load.streams += 1
        load.kv_tokens += kv_tokens
        self._judge(replica, load)
        return Reservation(self, replica=replica, kv_tokens=kv_tokens)

    def give_back(self, reservation: Reservation) -> None:
        """Only for `Reservation.release`, which sees to it that this happens once."""
        load = self._loads[reservation.replica]
        load.streams -= 1
        load.kv_tokens -= reservation.kv_tokens
        if self._judge(reservation.replica, load):
            self._freed()

    def saw_metrics(self, replica: ReplicaId, metrics: EngineMetrics) -> None:
        load = self._load(replica)
        load.outside = load.kv_correction = 0
        if metrics.running is not None:
            load.outside = max(0, metrics.running + (metrics.waiting or 0) - load.streams)
        if metrics.kv_capacity_tokens is not None:
            load.capacity = metrics.kv_capacity_tokens
        if metrics.kv_usage is not None and load.capacity is not None:
            load.kv_correction = int(metrics.kv_usage * load.capacity) - load.kv_tokens
        if self._judge(replica, load):
            self._freed()

    def saw_fleet(self, replicas: Iterable[Replica]) -> None:
        """Take over the sizes of their caches, and forget replicas that are gone and at which nothing runs."""
        known = {replica.id: replica for replica in replicas}
        for gone in [each for each, load in self._loads.items() if each not in known and not load.streams]:
            del self._loads[gone]
            self._full.discard(gone)
        for replica in known.values():
            if replica.window_tokens is not None:
                self._load(replica.id).window = replica.window_tokens
            if replica.kv_capacity_tokens is not None:
                load = self._load(replica.id)
                load.capacity = replica.kv_capacity_tokens
                self._judge(replica.id, load)

    def streams(self, replica: ReplicaId) -> int:
        """What this router and, as far as is known, others have there."""
        load = self._loads.get(replica)
        return 0 if load is None else load.streams + load.outside

    def own(self) -> Mapping[ReplicaId, int]:
        """This router's reservations; replicas without one are absent."""
        return {replica: load.streams for replica, load in self._loads.items() if load.streams}

    def own_kv_tokens(self, replica: ReplicaId) -> int:
        load = self._loads.get(replica)
        return 0 if load is None else load.kv_tokens

    def _load(self, replica: ReplicaId) -> _Load:
        load = self._loads.get(replica)
        if load is None:
            load = self._loads[replica] = _Load()
        return load

    def _judge(self, replica: ReplicaId, load: _Load) -> bool:
        """Whether it has room."""
        capacity = load.capacity
        has_room = load.streams + load.outside < self._max_in_flight and (
            capacity is None or max(0, load.kv_tokens + load.kv_correction) < self._kv_share * capacity
        )
        if not has_room:
            self._full.add(replica)
        elif self._full:
            self._full.discard(replica)
        return has_room
