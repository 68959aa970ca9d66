import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import trustme

from gateway.cli.api_client import Api
from gateway.cli.api_faults import (
    ApiAnswerMalformed,
    ApiCutOff,
    ApiFault,
    ApiRefused,
    ApiSilent,
    ApiUnreachable,
    ApiUntrusted,
)
from gateway.cli.wire import Accepted, Delta, Done
from tests.integration.cli.wire_server import EN, KEYS, ZH, WireServer, Wrong


@contextmanager
def answering(*pieces: bytes, stays: bool = False) -> Iterator[str]:
    """A server of one connection that writes these bytes whatever it is asked."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                for piece in pieces:
                    connection.sendall(piece)
                if stays:
                    done.wait(timeout=30)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            done.set()
            thread.join(timeout=30)


async def scenarios_of(base_url: str, *, read_timeout_s: float = 5.0) -> ApiFault:
    async with Api(base_url=base_url, read_timeout_s=read_timeout_s) as api:
        with pytest.raises(ApiFault) as fault:
            await api.as_holder_of(KEYS[0]).scenarios()
    return fault.value


@contextmanager
def greeting(context: ssl.SSLContext) -> Iterator[str]:
    """A server that begins one handshake."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with suppress(ssl.SSLError, OSError), context.wrap_socket(connection, server_side=True):
                pass

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            thread.join(timeout=30)


def plain(status: str, body: bytes, *headers: str) -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""])
    return head.encode() + body


async def test_every_page_of_a_list_is_read(server: WireServer) -> None:
    async with Api(base_url=server.base_url) as api:
        assert [scenario.id for scenario in await api.as_holder_of(KEYS[0]).scenarios()] == [ZH, EN]


async def test_a_turn_is_its_events_in_order_with_their_moments(server: WireServer) -> None:
    server.delay_s = 0.2
    async with Api(base_url=server.base_url) as api:
        client = api.as_holder_of(KEYS[0])
        session = await client.start_session(ZH, metadata={}, idempotency="a")
        asked = client.now()
        async with client.take_turn(session.id, "hello", idempotency="b") as stream:
            assert (stream.replica, stream.pin) == ("replica-0", "new")
            heard = [timed async for timed in stream.events()]
        kinds = [type(timed.event) for timed in heard]
        assert kinds == [Accepted, Delta, Delta, Delta, Delta, Done]
        moments = [timed.at for timed in heard]
        assert moments == sorted(moments)
        assert moments[0] - asked < 0.2 <= moments[1] - asked


async def test_the_same_key_starts_the_same_session(server: WireServer) -> None:
    async with Api(base_url=server.base_url) as api:
        client = api.as_holder_of(KEYS[0])
        first = await client.start_session(ZH, metadata={}, idempotency="a")
        assert await client.start_session(ZH, metadata={}, idempotency="a") == first
        assert await client.start_session(ZH, metadata={}, idempotency="b") != first


async def test_a_cut_stream_is_told_as_such(server: WireServer) -> None:
    server.wrong[1] = Wrong.CUT
    async with Api(base_url=server.base_url) as api:
        client = api.as_holder_of(KEYS[0])
        session = await client.start_session(ZH, metadata={}, idempotency="a")
        with pytest.raises(ApiCutOff):
            await _heard(api, session.id)


async def test_listening_can_be_given_up_at_any_time(server: WireServer) -> None:
    server.wrong[1] = Wrong.STALL
    async with Api(base_url=server.base_url) as api:
        session = await api.as_holder_of(KEYS[0]).start_session(ZH, metadata={}, idempotency="a")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await _heard(api, session.id)


async def _heard(api: Api, session: str) -> None:
    async with api.as_holder_of(KEYS[0]).take_turn(session, "hello", idempotency="b") as stream:
        async for _ in stream.events():
            pass


async def test_a_problem_is_told_with_code_detail_and_the_moment_to_come_again() -> None:
    body = b'{"title": "busy", "status": 409, "code": "session_busy", "detail": "a turn is running"}'
    with answering(plain("409 Conflict", body, "Retry-After: 3", "Content-Type: application/problem+json")) as url:
        fault = await scenarios_of(url)
    assert isinstance(fault, ApiRefused)
    assert (fault.status, fault.code, fault.detail) == (409, "session_busy", "409 session_busy: a turn is running")
    assert fault.retry_after_s == 3
    assert fault.may_be_retried


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"code": 7}', b"", b"\xff"])
async def test_an_error_of_something_in_between_is_told_by_its_status(body: bytes) -> None:
    with answering(plain("502 Bad Gateway", body, "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT")) as url:
        fault = await scenarios_of(url)
    assert isinstance(fault, ApiRefused)
    assert (fault.code, fault.retry_after_s) == ("http_502", None)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"items": 7}', b"{", b"\xff"])
async def test_an_answer_that_cannot_be_read_is_told_as_such(body: bytes) -> None:
    with answering(plain("200 OK", body)) as url:
        assert isinstance(await scenarios_of(url), ApiAnswerMalformed)


async def test_a_server_that_is_not_there_is_told_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    fault = await scenarios_of(f"http://127.0.0.1:{port}")
    assert isinstance(fault, ApiUnreachable)


async def test_a_certificate_that_is_not_trusted_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with greeting(context) as url:
        fault = await scenarios_of(url)
    assert isinstance(fault, ApiUntrusted)
    assert "the certificate is not trusted: unable to get local issuer certificate; SSL_CERT_FILE" in str(fault)


async def test_a_server_without_https_is_told_as_such() -> None:
    with answering(plain("400 Bad Request", b"")) as url:
        fault = await scenarios_of(url.replace("http:", "https:"))
    assert isinstance(fault, ApiUntrusted)
    assert "HTTPS is not understood there" in str(fault)


async def test_a_server_that_says_nothing_is_given_up() -> None:
    with answering(stays=True) as url:
        assert isinstance(await scenarios_of(url, read_timeout_s=0.3), ApiSilent)


async def test_a_server_that_hangs_up_is_told_as_such() -> None:
    with answering() as url:
        assert isinstance(await scenarios_of(url), ApiCutOff)


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with Api(base_url=server.base_url) as api:
        assert await api.as_holder_of(KEYS[0]).scenarios()
