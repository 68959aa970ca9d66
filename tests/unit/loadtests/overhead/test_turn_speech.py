"""Turns as they go over the wire."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from typing_extensions import override

from loadtests.overhead.load import Course
from loadtests.overhead.turn_speech import Gateway, TurnSpeech

COURSE = Course("turns", clients=2, seconds=1, chunks=2)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nX-Replica-ID: r1\r\n\r\nevent: accepted\n\n"
    b'event: delta\ndata: {"text":"000000000000100000000000000200"}\n\nevent: done\ndata: {"turn":1}\n\n'
)


@contextmanager
def opening() -> Iterator[tuple[str, list[tuple[str, object]]]]:
    """A server that opens sessions: whose key came with what."""
    opened: list[tuple[str, object]] = []

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            opened.append((self.headers["authorization"], asked))
            body = json.dumps({"id": f"session-{len(opened)}"}).encode()
            self.send_response(201)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = HTTPServer(("127.0.0.1", 0), Door)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", opened
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_each_session_is_opened_by_the_account_that_takes_its_turns() -> None:
    with opening() as (url, opened):
        speech = TurnSpeech(COURSE, Gateway(url, ["one", "two"], "lamp"))
    assert speech.sessions == len(opened) > COURSE.clients
    assert {asked["scenario_id"] for _, asked in opened if isinstance(asked, dict)} == {"lamp"}
    for number, (key, _) in enumerate(opened):
        request = speech.request(number)
        assert request.startswith(b"POST /v1/sessions/session-%d/turns HTTP/1.1\r\n" % (number + 1))
        assert f"authorization: {key}\r\n".encode() in request


def test_no_two_turns_have_the_same_key_and_each_tells_its_length() -> None:
    with opening() as (url, _):
        speech = TurnSpeech(COURSE, Gateway(url, ["one"], "lamp"))
    first, second = speech.request(0), speech.request(0)
    assert first != second
    head, _, body = first.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert json.loads(body)["text"]


def test_an_answer_is_held_against_what_was_asked_for() -> None:
    with opening() as (url, _):
        speech = TurnSpeech(COURSE, Gateway(url, ["one"], "lamp"))
    assert speech.mark in ANSWER
    assert (speech.fault(ANSWER), speech.replica(ANSWER), speech.lateness_ns(ANSWER, 300)) == (None, b"r1", [200, 100])
