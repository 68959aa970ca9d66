"""Streams in flight on this router, per replica; given back exactly once."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from router.domain.fleet import ReplicaId


class InFlight:
    """Counts what `stream` has open."""

    def __init__(self) -> None:
        self._streams: Counter[ReplicaId] = Counter()

    @contextmanager
    def stream(self, replica: ReplicaId) -> Iterator[None]:
        self._streams[replica] += 1
        try:
            yield
        finally:  # also on cancellation, and when the trainee has gone
            self._streams[replica] -= 1

    def counts(self) -> Mapping[ReplicaId, int]:
        """Replicas with nothing in flight are absent."""
        return {replica: streams for replica, streams in self._streams.items() if streams}
