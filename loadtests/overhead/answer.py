"""One answer as the load generator hears it: where it ends, whether it is whole, and how late its pieces were."""

import re
from collections.abc import Sequence

from loadtests.overhead.wire import STAMP_DIGITS, WHOLE_TEXT

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"(?i)\r\ncontent-length:\s*(\d+)")
_STAMP = re.compile(rb'"content":"(\d{%d})"' % STAMP_DIGITS)
CHAT_MARK = b'"content":"0'
TURN_MARK = b'"text":"0'
"""How the first piece with a text is known."""
_SAID = re.compile(rb'"text":"(\d*)"')
_ACCEPTED = re.compile(rb"(?i)\r\nx-replica-id:\s*([^\r]+)")
_REPLICA = re.compile(rb'"id":"chatcmpl-(\d)')
# No event holds a carriage return, so this is the framing of chunked transfer and nothing else.
_FRAME = re.compile(rb"(?:\A|\r\n)[0-9a-fA-F]+\r\n")
_LAST_FRAME = b"0\r\n\r\n"
_TEXT = WHOLE_TEXT.encode()
_ENDING_BYTES = 1_000


class HeardAnswer:
    """Fed with bytes until it is over. `first_ns` is when the first piece with a text came; 0: it has not."""

    __slots__ = ("_length", "_mark", "_parts", "_size", "_tail", "first_ns")

    def __init__(self, mark: bytes = CHAT_MARK) -> None:
        self._mark = mark
        self._parts: list[bytes] = []
        self._size = 0
        self._length: int | None = None
        self._tail = b""
        self.first_ns = 0

    def feed(self, data: bytes, now: int) -> bool:
        """Whether the answer is over."""
        if self._length is None or not self.first_ns:
            data = self._begin(data, now)
        self._parts.append(data)
        self._size += len(data)
        if self._length:
            return self._size >= self._length
        last = len(_LAST_FRAME)
        self._tail = data[-last:] if len(data) >= last else (self._tail + data)[-last:]
        return self._length == 0 and self._tail == _LAST_FRAME

    def whole(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def _begin(self, data: bytes, now: int) -> bytes:
        """While it is small, all of it is kept in one piece."""
        data = b"".join((*self._parts, data))
        self._parts.clear()
        self._size = 0
        if self._length is None and (head := data.find(_HEAD_END)) >= 0:
            found = _LENGTH.search(data, 0, head + 2)
            self._length = head + len(_HEAD_END) + int(found[1]) if found else 0
        if self._mark in data:
            self.first_ns = now
        return data


def fault_of_whole(answer: bytes) -> str | None:
    """What is wrong with it, if anything is."""
    if not answer.startswith(b"HTTP/1.1 200"):
        return _status(answer)
    return None if _TEXT in answer and b'"finish_reason":"stop"' in answer else "not the answer that was sent"


def fault_of_stream(answer: bytes, chunks: int) -> str | None:
    """Its pieces must be all there, and its end must have been told."""
    if not answer.startswith(b"HTTP/1.1 200"):
        return _status(answer)
    if _is_whole_stream(answer, chunks):
        return None
    # A router may cut events anywhere; only then the frames have to be taken away first.
    body = _FRAME.sub(b"", answer.partition(_HEAD_END)[2])
    return None if _is_whole_stream(body, chunks) else f"{body.count(CHAT_MARK)} of {chunks} pieces, or no end"


def fault_of_turn(answer: bytes, chunks: int) -> str | None:
    """The same of a turn of a session. Its texts may have been put together, or cut, on their way."""
    if not answer.startswith(b"HTTP/1.1 200"):
        return _status(answer)
    body = _FRAME.sub(b"", answer.partition(_HEAD_END)[2])
    said = sum(len(text) for text in _SAID.findall(body))
    if said == chunks * STAMP_DIGITS and b"\nevent: done\n" in body:
        return None
    return f"{said // STAMP_DIGITS} of {chunks} pieces, or not done"


def _is_whole_stream(events: bytes, chunks: int) -> bool:
    ending = events[-_ENDING_BYTES:]
    has_end = b'"finish_reason":"stop"' in ending and b"data: [DONE]\n\n" in ending
    return has_end and events.count(CHAT_MARK) == chunks


def replica_of(answer: bytes) -> bytes:
    """Which replica it came from; empty: it does not say."""
    found = _REPLICA.search(answer)
    return found[1] if found else b""


def replica_of_turn(answer: bytes) -> bytes:
    found = _ACCEPTED.search(answer)
    return found[1] if found else b""


def lateness_ns(data: bytes, now: int) -> Sequence[int]:
    """How long each piece in there was on its way."""
    return [now - int(stamp) for stamp in _STAMP.findall(data)]


def lateness_of_turn_ns(data: bytes, now: int) -> Sequence[int]:
    """The same of a turn, in whose events several pieces may stand together."""
    stamps = (text[at : at + STAMP_DIGITS] for text in _SAID.findall(data) for at in range(0, len(text), STAMP_DIGITS))
    return [now - int(stamp) for stamp in stamps if len(stamp) == STAMP_DIGITS]


def _status(answer: bytes) -> str:
    return answer.partition(b"\r\n")[0][:60].decode("latin-1") or "an empty answer"
