"""A load generator that costs little: one thread over epoll, keyed sessions, every answer checked."""

import select
import socket
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic_ns, sleep
from typing import Protocol

from loadtests.overhead.answer import HeardAnswer

_READ_BYTES = 1 << 18
SILENCE = "no answer"
"""The fault of a target that cannot keep up."""
_STALLED_NS = 5_000_000_000
_TICK_S = 0.05
_BULK_S = 0.001


@dataclass(frozen=True, slots=True)
class Course:
    """One way of asking. Without `chunks` answers are whole; `every_ms` 0 is as fast as can be."""

    name: str
    clients: int
    seconds: float
    chunks: int = 0
    every_ms: float = 0.0
    warm_s: float = 0.5

    @property
    def is_streamed(self) -> bool:
        return self.chunks > 0

    @property
    def is_bulk(self) -> bool:
        """As many chunks as can be, whenever they come."""
        return self.is_streamed and not self.is_timed

    @property
    def is_timed(self) -> bool:
        return self.every_ms > 0


class Speech(Protocol):
    """What is said to a target, and what its answers mean."""

    @property
    def sessions(self) -> int:
        """How many there are."""

    @property
    def mark(self) -> bytes:
        """What is in the first piece with a text."""

    def request(self, session: int) -> bytes: ...

    def fault(self, answer: bytes) -> str | None:
        """What is wrong with it, if anything is."""

    def replica(self, answer: bytes) -> bytes:
        """Which replica it came from; empty: it does not say."""

    def lateness_ns(self, data: bytes, now: int) -> Sequence[int]:
        """How long each piece in there was on its way."""


@dataclass(slots=True)
class Heard:
    """What was heard in the measured part. `waits_ns` are times to the first text, or to the end of a whole answer."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    answers: int = 0
    chunks: int = 0
    waits_ns: list[int] = field(default_factory=list)
    lateness_ns: list[int] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)


class _Client:
    __slots__ = ("answer", "is_new", "last_ns", "sent_ns", "session", "sock")

    def __init__(self, sock: socket.socket, mark: bytes) -> None:
        self.sock = sock
        self.answer = HeardAnswer(mark)
        self.session = 0
        self.sent_ns = self.last_ns = 0
        self.is_new = True


class Load:
    """Every client asks, hears the answer out, and asks again, each time for the session that has rested longest.

    `cpu_s` tells the processor time that the target has used so far.
    """

    def __init__(self, course: Course, *, port: int, speech: Speech, cpu_s: Callable[[], float]) -> None:
        self._course = course
        self._speech = speech
        self._address = ("127.0.0.1", port)
        self._resting = deque(range(speech.sessions))
        self._cpu_s = cpu_s
        self._replicas: dict[int, bytes] = {}
        self._clients: dict[int, _Client] = {}
        self._epoll = select.epoll()
        self._heard = Heard()
        self._measures = False
        # One large buffer for all reads: to allocate one for each costs more than the read itself.
        self._room = memoryview(bytearray(_READ_BYTES))

    def run(self) -> Heard:
        course = self._course
        try:
            self._start()
            self._go_on_for(course.warm_s)
            self._heard = Heard(faults=self._heard.faults)
            self._measures = True
            began, cpu = monotonic_ns(), self._cpu_s()
            self._go_on_for(course.seconds)
            self._heard.cpu_s = self._cpu_s() - cpu
            self._heard.seconds = (monotonic_ns() - began) / 1e9
            self._note_stalled()
        finally:
            for client in self._clients.values():
                client.sock.close()
            self._epoll.close()
        return self._heard

    def _start(self) -> None:
        """Timed streams begin spread over the length of one, as people do."""
        course = self._course
        gap_s = course.chunks * course.every_ms / 1e3 / course.clients
        for _ in range(course.clients):
            client = self._connect()
            self._ask(client)
            if gap_s:
                self._go_on_for(gap_s)

    def _go_on_for(self, seconds: float) -> None:
        end = monotonic_ns() + round(seconds * 1e9)
        poll, clients = self._epoll.poll, self._clients
        while (left := end - monotonic_ns()) > 0:
            for file, _ in poll(min(_TICK_S, left / 1e9)):
                self._hear(clients[file])
            if self._course.is_bulk:
                # Only the amount counts here, and what is read seldom is read cheaply.
                sleep(_BULK_S)

    def _connect(self) -> _Client:
        sock = socket.create_connection(self._address, timeout=10)
        sock.settimeout(0)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = self._clients[sock.fileno()] = _Client(sock, self._speech.mark)
        self._epoll.register(sock.fileno(), select.EPOLLIN)
        return client

    def _ask(self, client: _Client) -> None:
        client.session = self._resting.popleft()
        client.answer = HeardAnswer(self._speech.mark)
        client.is_new = True
        client.sent_ns = client.last_ns = monotonic_ns()
        client.sock.send(self._speech.request(client.session))

    def _hear(self, client: _Client) -> None:
        try:
            size = client.sock.recv_into(self._room)
        except BlockingIOError:
            return
        except OSError:
            size = 0
        data = self._room[:size].tobytes()
        now = client.last_ns = monotonic_ns()
        if not data:
            self._heard.faults["the connection was closed"] += 1
            self._replace(client)
            return
        is_over = client.answer.feed(data, now)
        if self._course.is_timed and self._measures:
            self._heard.lateness_ns.extend(self._speech.lateness_ns(data, now))
        if client.is_new and client.answer.first_ns:
            client.is_new = False
            self._heard.waits_ns.append(now - client.sent_ns)
        if is_over:
            self._end(client, now)

    def _end(self, client: _Client, now: int) -> None:
        course, heard, answer = self._course, self._heard, client.answer.whole()
        fault = self._speech.fault(answer) or self._astray(client.session, self._speech.replica(answer))
        if fault is not None:
            heard.faults[fault] += 1
        heard.answers += 1
        heard.chunks += course.chunks
        if not course.is_streamed:
            heard.waits_ns.append(now - client.sent_ns)
        self._resting.append(client.session)
        self._ask(client)

    def _astray(self, session: int, replica: bytes) -> str | None:
        known = self._replicas.setdefault(session, replica)
        return None if known == replica else "a session at two replicas"

    def _replace(self, client: _Client) -> None:
        self._epoll.unregister(client.sock.fileno())
        del self._clients[client.sock.fileno()]
        client.sock.close()
        self._resting.append(client.session)
        self._ask(self._connect())

    def _note_stalled(self) -> None:
        now = monotonic_ns()
        stalled = sum(now - client.last_ns > _STALLED_NS for client in self._clients.values())
        if stalled or not self._heard.answers:
            self._heard.faults[SILENCE] += max(1, stalled)
