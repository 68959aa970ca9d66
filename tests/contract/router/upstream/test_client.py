"""The client over real sockets, on the loop of the standard library and on the one the service runs on."""

import asyncio
import gc
import os
import socket
import ssl
import subprocess
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from router.adapters.upstream.alarm import Alarm
from router.adapters.upstream.client import UpstreamClient
from router.adapters.upstream.errors import AnswerBroken, ConnectFailed, ConnectTimedOut, NoAnswer, OutOfPatience
from router.adapters.upstream.reply import Reply
from router.adapters.upstream.request import request_bytes
from router.domain.patience import Limits, Patience
from tests.support.engine_process import free_port
from tests.support.loopback_server import LoopbackServer, a_server_that, always, one_request, until

SMALL = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
ENDLESS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNK = b"9\r\ndata: x\n\n\r\n"
LIMITS = Limits(connect_s=2, total_s=20)


@pytest.fixture
async def client() -> AsyncIterator[UpstreamClient]:
    async with UpstreamClient() as client:
        yield client
    assert client.connections == 0


async def ask(client: UpstreamClient, url: str, limits: Limits = LIMITS, *, body: bytes = b"{}") -> bytes:
    target = client.target(url)
    patience = Patience(limits, now=asyncio.get_running_loop().time())
    reply = await client.open(target, request_bytes(target, "/", "", body), patience=patience)
    try:
        whole = b""
        while data := await reply.read():
            whole += data
        return whole
    finally:
        reply.close()


async def stream_for_ever(reader: StreamReader, writer: StreamWriter) -> None:
    await one_request(reader)
    writer.write(ENDLESS)
    while not writer.is_closing():
        writer.write(CHUNK)
        await writer.drain()
        await asyncio.sleep(0.005)


async def stay_silent(reader: StreamReader, _: StreamWriter) -> None:
    await reader.read(1 << 20)
    await reader.read(1)


# ---------------------------------------------------------------- connections


async def test_one_connection_serves_one_request_after_another(client: UpstreamClient) -> None:
    async with a_server_that(always(SMALL)) as server:
        for _ in range(20):
            assert await ask(client, server.url) == b"{}"
        assert (server.connections, client.connections, client.idle) == (1, 1, 1)


async def test_as_many_connections_as_requests_at_a_time(client: UpstreamClient) -> None:
    arrived, all_here = 0, asyncio.Event()

    async def together(reader: StreamReader, writer: StreamWriter) -> None:
        nonlocal arrived
        while True:
            await one_request(reader)
            arrived += 1
            if arrived == 500:
                all_here.set()
            await all_here.wait()
            writer.write(SMALL)

    async with a_server_that(together) as server:
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(ask(client, server.url, body=b"x" * 1000)) for _ in range(500)]
        assert {task.result() for task in asked} == {b"{}"}
        assert (client.connections, client.idle) == (500, 500)
        assert await ask(client, server.url) == b"{}"
        assert server.connections == 500


async def test_idle_connections_go_before_the_server_would_end_them() -> None:
    async with UpstreamClient(idle_s=0.05) as client, a_server_that(always(SMALL)) as server:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(5):
                tasks.create_task(ask(client, server.url))
        await until(lambda: client.connections == 0, "idle connections stay")
        await until(lambda: server.open == 0, "the server still has them")
        assert await ask(client, server.url) == b"{}"


async def test_a_connection_the_server_ends_is_forgotten(client: UpstreamClient) -> None:
    async def once(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(SMALL)

    async with a_server_that(once) as server:
        for _ in range(3):
            assert await ask(client, server.url) == b"{}"
            await until(lambda: client.connections == 0, "an ended connection is kept")
        assert server.connections == 3


async def test_a_kept_connection_that_is_lost_under_a_request_is_replaced(client: UpstreamClient) -> None:
    requests = 0

    async def loses_the_second(reader: StreamReader, writer: StreamWriter) -> None:
        nonlocal requests
        while True:
            await one_request(reader)
            requests += 1
            if requests == 2:
                return
            writer.write(SMALL)

    async with a_server_that(loses_the_second) as server:
        assert [await ask(client, server.url) for _ in range(3)] == [b"{}"] * 3
        assert (server.connections, requests) == (2, 4)


async def test_a_fresh_connection_that_is_lost_is_the_servers_fault(client: UpstreamClient) -> None:
    async def loses_all(reader: StreamReader, _: StreamWriter) -> None:
        await one_request(reader)

    async with a_server_that(loses_all) as server:
        with pytest.raises(NoAnswer):
            await ask(client, server.url)
        assert server.connections == 1


async def test_a_kept_connection_that_began_to_answer_is_not_replaced(client: UpstreamClient) -> None:
    async def breaks_the_second(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(SMALL)
        await one_request(reader)
        writer.write(b"HTTP/1.1 20")

    async with a_server_that(breaks_the_second) as server:
        await ask(client, server.url)
        with pytest.raises(NoAnswer, match="within the answer's head"):
            await ask(client, server.url)
        assert server.connections == 1


async def test_small_writes_are_not_held_back(client: UpstreamClient) -> None:
    async with a_server_that(always(SMALL)) as server:
        await ask(client, server.url)
        (connection,) = client._connections
        assert connection._transport is not None
        sock = connection._transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_a_prefix_and_an_ipv6_address_are_reached(client: UpstreamClient) -> None:
    heads = []

    async def remembers(reader: StreamReader, writer: StreamWriter) -> None:
        heads.append((await one_request(reader))[0])
        writer.write(SMALL)

    async with a_server_that(remembers, host="::1") as server:
        assert await ask(client, f"{server.url}/engines/a/") == b"{}"
    assert heads[0].startswith(b"POST /engines/a/ HTTP/1.1\r\nhost: [::1]:")


async def test_closing_the_client_ends_what_is_being_read() -> None:
    client = UpstreamClient()
    async with a_server_that(stream_for_ever) as server:

        async def read() -> None:
            with pytest.raises((AnswerBroken, NoAnswer), match="the client was closed"):
                await ask(client, server.url)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read())
            await until(lambda: server.open == 1, "nobody asked")
            await client.aclose()
        assert client.connections == 0
        await until(lambda: server.open == 0, "the server still streams")


# ---------------------------------------------------------------- failures


async def test_nobody_there_is_told_at_once(client: UpstreamClient) -> None:
    with pytest.raises(ConnectFailed, match="ConnectionRefusedError"):
        await ask(client, f"http://127.0.0.1:{free_port()}")


async def test_a_name_nobody_knows_is_no_connection(client: UpstreamClient) -> None:
    with pytest.raises(ConnectFailed):
        await ask(client, "http://nobody.invalid:8000")


async def test_what_waits_for_a_whole_answer_there_can_be_given_up(client: UpstreamClient) -> None:
    async with (
        a_server_that(stay_silent) as silent,
        a_server_that(stay_silent) as another,
        asyncio.TaskGroup() as tasks,
    ):
        waiting = tasks.create_task(gives_up(client, silent.url))
        elsewhere = tasks.create_task(ask(client, another.url))
        await until(lambda: silent.open == another.open == 1, "nobody has asked")
        client.give_up(client.target(silent.url), waited_s=60)
        await asyncio.sleep(0)
        assert not waiting.done()
        client.give_up(client.target(silent.url), waited_s=0)
        await waiting
        assert not elsewhere.done()
        elsewhere.cancel()


async def gives_up(client: UpstreamClient, url: str) -> None:
    with pytest.raises(OutOfPatience, match="not been ready"):
        await ask(client, url)


async def test_connecting_has_its_time(client: UpstreamClient) -> None:
    with socket.socket() as full:
        # A listener whose queue is full lets the next ones knock in vain.
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        knocking = [socket.socket() for _ in range(4)]
        try:
            for one in knocking:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
            began = time.monotonic()
            with pytest.raises(ConnectTimedOut, match=r"no connection within 0\.2 s"):
                await ask(client, f"http://127.0.0.1:{port}", Limits(connect_s=0.2, total_s=20))
            assert time.monotonic() - began < 2
        finally:
            for one in knocking:
                one.close()


async def test_an_answer_before_the_request_has_ended_is_an_answer(client: UpstreamClient) -> None:
    async def refuses_early(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}")
        await reader.read(-1)

    async with a_server_that(refuses_early) as server:
        assert await ask(client, server.url, body=b"x" * 30_000_000) == b"{}"
        await until(lambda: client.connections == 0, "a connection with half a request in it is kept")


async def test_a_second_answer_nobody_asked_for_is_not_taken_for_the_next(client: UpstreamClient) -> None:
    stale = SMALL.replace(b"{}", b"[]")

    async def answers_twice(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(SMALL)
        await writer.drain()
        writer.write(stale)
        await reader.read(1)

    async with a_server_that(answers_twice) as server:
        assert await ask(client, server.url) == b"{}"
        await until(lambda: client.connections == 0, "a connection that speaks unasked is kept")
        assert await ask(client, server.url) == b"{}"


async def test_a_server_that_sends_more_than_is_taken_is_held_back(client: UpstreamClient) -> None:
    sent = 0

    async def floods(reader: StreamReader, writer: StreamWriter) -> None:
        nonlocal sent
        await one_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    async with a_server_that(floods) as server:
        target = client.target(server.url)
        patience = Patience(LIMITS, now=asyncio.get_running_loop().time())
        reply = await client.open(target, request_bytes(target, "/", "", b""), patience=patience)
        await until(lambda: reply.unread > 1 << 18, "it does not come")
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.1)
        assert reply.unread < 1 << 20
        held = sent
        while sent <= held + 4_000_000:
            assert await reply.read()
        reply.close()


# ---------------------------------------------------------------- nothing stays


async def test_a_silent_server_is_left_in_time(client: UpstreamClient) -> None:
    async with a_server_that(stay_silent) as server:
        with pytest.raises(OutOfPatience, match=r"no answer within 0\.1 s"):
            await ask(client, server.url, Limits(connect_s=2, total_s=20, answer_s=0.1))
        await until(lambda: server.open == 0, "the server still works for nobody")
        assert client.connections == 0


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 6, 10, 50])
async def test_a_cancelled_request_leaves_nothing_wherever_it_was(client: UpstreamClient, turns: int) -> None:
    async with a_server_that(stream_for_ever) as server:
        asking = asyncio.ensure_future(ask(client, server.url))
        for _ in range(turns):
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: client.connections == 0 and server.open == 0, "a cancelled request goes on")


async def test_a_thousand_aborted_streams_leave_nothing(client: UpstreamClient) -> None:
    async with a_server_that(stream_for_ever) as server:

        async def leave(number: int) -> None:
            target = client.target(server.url)
            patience = Patience(LIMITS, now=asyncio.get_running_loop().time())
            reply = await client.open(target, request_bytes(target, "/", "", b"{}"), patience=patience)
            for _ in range(number % 3):
                await reply.read()
            reply.close()

        files, tasks_before = _open_files(), len(asyncio.all_tasks())
        for _ in range(10):
            async with asyncio.TaskGroup() as tasks:
                for number in range(100):
                    tasks.create_task(leave(number))
        await until(lambda: client.connections == 0 and server.open == 0, "aborted streams stay open")
        gc.collect()
        assert server.connections == 1000
        await until(lambda: _open_files() <= files, "files stay open")
        assert len(asyncio.all_tasks()) == tasks_before
        assert (client.idle, client._connections) == (0, set())


async def test_nothing_is_left_to_the_garbage_collector(client: UpstreamClient) -> None:
    # Its pauses are what makes the slowest tokens slow.
    async with a_server_that(always(SMALL)) as server:
        await ask(client, server.url)
        gc.collect()
        gc.disable()
        try:
            before = _replies()
            for _ in range(20):
                await ask(client, server.url)
            assert _replies() == before
        finally:
            gc.enable()


def _replies() -> int:
    return sum(isinstance(thing, Reply | Alarm) for thing in gc.get_objects())


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


# ---------------------------------------------------------------- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificate and key of `localhost`, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "certificate.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    new = (
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    )
    subprocess.run([*new, "-keyout", key, "-out", made, *subject], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text(made.read_text() + key.read_text())
    return both


@pytest.fixture
async def tls_server(certificate: Path) -> AsyncIterator[LoopbackServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with a_server_that(always(SMALL), tls=context) as server:
        server.url = server.url.replace("127.0.0.1", "localhost")
        yield server


async def test_a_server_behind_tls_is_reached_over_one_connection(
    tls_server: LoopbackServer, certificate: Path
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with UpstreamClient(tls=trusting) as client:
        for _ in range(3):
            assert await ask(client, tls_server.url) == b"{}"
        assert (tls_server.connections, client.idle) == (1, 1)
    assert client.connections == 0


async def test_a_server_that_nobody_vouches_for_is_not_spoken_to(
    tls_server: LoopbackServer, client: UpstreamClient
) -> None:
    with pytest.raises(ConnectFailed, match="CERTIFICATE_VERIFY_FAILED"):
        await ask(client, tls_server.url)


async def test_a_server_without_tls_is_not_waited_for(client: UpstreamClient) -> None:
    async with a_server_that(stay_silent) as server:
        with pytest.raises(ConnectFailed):
            await ask(client, server.url.replace("http:", "https:"), Limits(connect_s=0.2, total_s=20))
        await until(lambda: server.open == 0, "a handshake goes on for nobody")
