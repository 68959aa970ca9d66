import json
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import trustme
from typing_extensions import override

from gateway.local.free_port import free_port
from gateway.local.gateway_process import missing as gateway_lacks
from gateway.local.http_probe import ask
from gateway.local.vllm_replica import missing as replica_lacks


class Scripted(BaseHTTPRequestHandler):
    """Answers each path with the status in `status`, 200 where there is none."""

    status: dict[str, int] = {}  # noqa: RUF012  set anew for each test
    text = b'{"instance": "ours", "reasons": ["no\\n replica"]}'

    def do_GET(self) -> None:
        status = self.status.get(self.path, 200)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(self.text)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["max_tokens"] == 1
        self.do_GET()

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Scripted.status = {}
    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_answer_is_its_status_and_text(url: str) -> None:
    answer = ask(url)
    assert answer.is_good
    assert "reasons" in answer.text


def test_a_server_of_ours_answers_whatever_its_certificate_is_for() -> None:
    Scripted.status = {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("drills.example").configure_cert(context)
    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        answer = ask(f"https://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()
    assert answer.is_good


def test_a_refusal_is_an_answer_too(url: str) -> None:
    Scripted.status = {"/readyz": 503}
    answer = ask(f"{url}/readyz")
    assert (answer.status, answer.is_good) == (503, False)


def test_nobody_there_is_said_and_not_raised() -> None:
    answer = ask(f"http://127.0.0.1:{free_port()}/")
    assert answer.status == 0
    assert "refused" in answer.text


def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = ask(f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_s=0.1)
    assert answer.status == 0


def test_a_proxy_of_the_environment_is_not_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    assert ask(url).is_good


def test_a_replica_is_ready_once_it_has_made_a_token(url: str) -> None:
    Scripted.status = {"/health": 503}
    assert replica_lacks(url, "small") == "/health says 503"
    Scripted.status = {"/v1/chat/completions": 500}
    assert replica_lacks(url, "small") == "a one-token request ended in 500"
    Scripted.status = {}
    assert replica_lacks(url, "small") is None


def test_a_gateway_says_what_keeps_it_from_being_ready(url: str) -> None:
    Scripted.status = {"/readyz": 503}
    lacks = gateway_lacks(url, instance="ours", has_replicas=True) or ""
    assert lacks.startswith('/readyz says 503: {"instance": "ours", "reasons"')
    assert gateway_lacks(url, instance="ours", has_replicas=False) is None
    Scripted.status = {}
    assert gateway_lacks(url, instance="ours", has_replicas=True) is None
    Scripted.status = {"/livez": 500}
    assert (gateway_lacks(url, instance="ours", has_replicas=True) or "").startswith("/livez says 500")


@pytest.mark.parametrize("text", [b'{"instance": "theirs"}', b'{"status": "ok"}', b"[]", b"<html>", b""])
def test_another_server_is_not_taken_for_ours(url: str, monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(Scripted, "text", text)
    assert gateway_lacks(url, instance="ours", has_replicas=True) == f"another server answers at {url}"
