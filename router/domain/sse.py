"""Server-sent events, as far as vLLM speaks them: bytes cut anywhere in, the data of finished events out."""

MAX_EVENT_BYTES = 1 << 20


class EventTooLong(ValueError):
    """An event grew past the limit; what sends it is not an engine."""


class SseDecoder:
    """Accepts bytes cut anywhere, also inside a character; lines end in LF or CRLF; comments are skipped.

    A line feed never stands inside a UTF-8 sequence, so bytes are split into lines first and decoded only when their
    event is whole.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._tail = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[str]:
        *lines, self._tail = (self._tail + chunk).split(b"\n")
        events = [event for line in lines if (event := self._line(line.removesuffix(b"\r"))) is not None]
        if len(self._tail) + sum(map(len, self._data)) > self._max_event_bytes:
            raise EventTooLong(f"an event is longer than {self._max_event_bytes} bytes")
        return events

    def _line(self, line: bytes) -> str | None:
        if line.startswith(b"data:"):
            self._data.append(_value(line))
        if line or not self._data:
            return None
        event = b"\n".join(self._data).decode("utf-8", "replace")
        self._data.clear()
        return event


def event_data(block: bytes) -> bytes | None:
    """The data of one whole event, its lines without their CR; None when there is none, as in a comment."""
    if block.startswith(b"data:") and b"\n" not in block:
        return _value(block)
    data = [_value(line) for line in block.split(b"\n") if line.startswith(b"data:")]
    return b"\n".join(data) if data else None


def _value(line: bytes) -> bytes:
    return line.removeprefix(b"data:").removeprefix(b" ")
