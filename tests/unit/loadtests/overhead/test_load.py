"""What the load generator sends, hears and holds against a target."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from loadtests.overhead.chat_speech import ChatSpeech
from loadtests.overhead.engine import MockEngine, Pace
from loadtests.overhead.load import Course, Heard, Load


@contextmanager
def engine(pace: Pace, *, replicas: int = 1) -> Iterator[int]:
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(replicas)]
    made, ends = MockEngine(doors), threading.Event()
    made.pace = pace

    def serve() -> None:
        while not ends.is_set():
            made.turn(most_s=0.01)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield int(doors[0].getsockname()[1])
    finally:
        ends.set()
        thread.join()
        made.close()


def heard(course: Course, port: int) -> Heard:
    speech = ChatSpeech(course, header="x-session-id", body_bytes=50)
    return Load(course, port=port, speech=speech, cpu_s=lambda: 0.0).run()


def test_whole_answers_are_counted_and_timed() -> None:
    with engine(Pace()) as port:
        found = heard(Course("many", clients=4, seconds=0.2, warm_s=0.05), port)
    assert found.answers > 10
    assert (found.chunks, found.faults) == (0, {})
    assert len(found.waits_ns) == found.answers


def test_streams_are_counted_by_their_pieces() -> None:
    with engine(Pace(chunks=10)) as port:
        found = heard(Course("chunks", clients=4, seconds=0.3, chunks=10, warm_s=0.05), port)
    assert found.chunks == 10 * found.answers > 0
    assert found.faults == {}


def test_timed_streams_tell_how_late_their_pieces_were() -> None:
    with engine(Pace(chunks=5, every_ns=5_000_000)) as port:
        found = heard(Course("streams", clients=4, seconds=0.3, chunks=5, every_ms=5, warm_s=0.05), port)
    assert found.lateness_ns
    assert min(found.lateness_ns) >= 0
    assert found.waits_ns
    assert found.faults == {}


def test_a_wrong_answer_is_a_fault() -> None:
    with engine(Pace(chunks=3)) as port:
        found = heard(Course("chunks", clients=2, seconds=0.2, chunks=4, warm_s=0.05), port)
    assert "3 of 4 pieces, or no end" in found.faults


def test_silence_is_a_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        found = heard(Course("one", clients=1, seconds=0.1, warm_s=0.0), deaf.getsockname()[1])
    assert found.faults == {"no answer": 1}
