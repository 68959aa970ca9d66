"""The events of an answer that has said nothing yet: they wait for its first word."""

from router.domain.sse import MAX_EVENT_BYTES
from router.errors import StreamBroken

MAX_UNTOLD_BYTES = 8 * MAX_EVENT_BYTES


class Untold:
    def __init__(self) -> None:
        self._events: list[bytes] = []
        self._bytes = 0

    def add(self, event: bytes) -> None:
        """Raises `StreamBroken` where too many wait."""
        self._events.append(event)
        self._bytes += len(event)
        if self._bytes > MAX_UNTOLD_BYTES:
            raise StreamBroken("the engine says nothing at length")

    def taken(self) -> bytes:
        """All that waited."""
        if not self._events:
            return b""
        events = b"".join(self._events)
        self._events.clear()
        return events
