"""Chat completions as the load sends them: 1,000 sessions, each named in a header, and answers in vLLM's bytes."""

from collections.abc import Sequence

from typing_extensions import override

from loadtests.overhead.answer import CHAT_MARK, fault_of_stream, fault_of_whole, lateness_ns, replica_of
from loadtests.overhead.load import Course, Speech
from loadtests.overhead.wire import MODEL

_SESSIONS = 1_000


class ChatSpeech(Speech):
    def __init__(self, course: Course, *, header: str, body_bytes: int) -> None:
        self._chunks = course.chunks
        self._requests = [request(session, header, course, body_bytes) for session in range(_SESSIONS)]

    @property
    @override
    def sessions(self) -> int:
        return len(self._requests)

    @property
    @override
    def mark(self) -> bytes:
        return CHAT_MARK

    @override
    def request(self, session: int) -> bytes:
        return self._requests[session]

    @override
    def fault(self, answer: bytes) -> str | None:
        return fault_of_stream(answer, self._chunks) if self._chunks else fault_of_whole(answer)

    @override
    def replica(self, answer: bytes) -> bytes:
        return replica_of(answer)

    @override
    def lateness_ns(self, data: bytes, now: int) -> Sequence[int]:
        return lateness_ns(data, now)


def request(session: int, header: str, course: Course, body_bytes: int) -> bytes:
    """A turn of a session as it goes over the wire; the session's name goes into this header."""
    said = f"Turn of session {session:04}. ".ljust(body_bytes, "x")
    streamed = b',"stream":true' if course.is_streamed else b""
    body = (
        b'{"model":"%b","messages":[{"role":"system","content":"You are a customer who wants to return a lamp."},'
        b'{"role":"user","content":"%b"}],"temperature":0,"max_tokens":%d%b}'
    ) % (MODEL.encode(), said.encode(), max(1, course.chunks), streamed)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"{header}: session-{session:04}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
