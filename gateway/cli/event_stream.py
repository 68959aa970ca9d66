"""Server-sent events out of bytes that may be cut anywhere."""

from dataclasses import dataclass

from gateway.cli.api_faults import ApiAnswerMalformed

MAX_EVENT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event as it stood on the wire."""

    name: str
    data: str
    id: str


class EventReader:
    """Feed it the bytes of a stream; it answers with the events they finish. Lines may end in LF, CRLF or CR."""

    def __init__(self) -> None:
        self._tail = b""
        self._is_first = True
        self._size = 0
        self._name = ""
        self._data: list[str] = []
        self._id = ""

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        *lines, self._tail = _lines(self._tail + chunk)
        events = [event for line in lines if (event := self._line(line)) is not None]
        if self._size + len(self._tail) > MAX_EVENT_BYTES:
            raise ApiAnswerMalformed(f"one event of the stream has more than {MAX_EVENT_BYTES} bytes")
        return events

    def _line(self, raw: bytes) -> ServerEvent | None:
        if not raw:
            return self._dispatch()
        self._size += len(raw)
        # Whole lines are decoded, so that a character cut by two chunks is never torn.
        line = raw.decode("utf-8", errors="replace")
        if self._is_first:
            line = line.removeprefix("\ufeff")
            self._is_first = False
        field, _, value = line.partition(":")
        self._take(field, value.removeprefix(" "))
        return None

    def _take(self, field: str, value: str) -> None:
        match field:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "id" if "\0" not in value:
                self._id = value
            case _:  # a comment starts with the colon: its field is empty
                pass

    def _dispatch(self) -> ServerEvent | None:
        event = ServerEvent(self._name or "message", "\n".join(self._data), self._id) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event


def _lines(text: bytes) -> list[bytes]:
    """The finished lines and, last, what is still open; a CR at the very end may be half of a CRLF and stays open."""
    held = b"\r" if text.endswith(b"\r") else b""
    body = text[: len(text) - len(held)]
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    *lines, tail = body.split(b"\n")
    return [*lines, tail + held]
