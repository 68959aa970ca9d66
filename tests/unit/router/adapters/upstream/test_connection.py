"""One connection against every shape of answer, cut anywhere, on a transport of paper."""

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.adapters.upstream.connection import MAX_UNREAD_BYTES, Connection
from router.adapters.upstream.errors import AnswerBroken, ConnectionDropped, NoAnswer, UpstreamError
from router.adapters.upstream.reply import Reply
from router.adapters.upstream.target import Origin
from router.domain.patience import Limits, Patience
from tests.support.paper_transport import PaperTransport

ORIGIN = Origin("127.0.0.1", 80, False)
BODY = b"data: one\n\ndata: two\n\n"
FIXED = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n0\r\n\r\n"
WITH_TRAILER = CHUNKED[:-2] + b"x-sum: 1\r\n\r\n"
UNFRAMED = b"HTTP/1.1 200 OK\r\n\r\n" + BODY
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"


@dataclass
class World:
    """One connection, and what it told its owner."""

    transport: PaperTransport = field(default_factory=PaperTransport)
    free: list[Connection] = field(default_factory=list)
    lost: list[Connection] = field(default_factory=list)

    def connect(self) -> Connection:
        connection = Connection(origin=ORIGIN, on_free=self.free.append, on_lost=self.lost.append)
        self.transport.carry(connection)
        return connection


def patience() -> Patience:
    return Patience(Limits(connect_s=60, total_s=60), now=asyncio.get_running_loop().time())


def is_held_back(world: World) -> bool:
    return world.transport.is_paused


async def taken(reply: Reply) -> bytes:
    await reply.answered()
    data = b""
    while piece := await reply.read():
        data += piece
    return data


def pieces_of(wire: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted({cut % (len(wire) + 1) for cut in cuts}), len(wire)]
    return [wire[start:end] for start, end in pairwise(edges) if start < end]


@given(
    st.sampled_from([FIXED, CHUNKED, WITH_TRAILER, INTERIM + FIXED, INTERIM + CHUNKED]), st.lists(st.integers(0, 400))
)
def test_the_body_is_the_same_however_the_wire_is_cut(wire: bytes, cuts: list[int]) -> None:
    async def ask() -> None:
        world = World()
        connection = world.connect()
        reply = connection.ask(b"POST", patience())
        for piece in pieces_of(wire, cuts):
            connection.data_received(piece)
        assert await taken(reply) == BODY
        assert (world.free, world.lost) == ([connection], [])

    asyncio.run(ask())


@given(st.lists(st.integers(0, 400)))
def test_a_body_without_a_length_ends_with_its_connection(cuts: list[int]) -> None:
    async def ask() -> None:
        world = World()
        connection = world.connect()
        reply = connection.ask(b"POST", patience())
        for piece in pieces_of(UNFRAMED, cuts):
            connection.data_received(piece)
        assert world.free == []
        world.transport.lose(None)
        assert await taken(reply) == BODY

    asyncio.run(ask())


@given(st.sampled_from([FIXED, CHUNKED, WITH_TRAILER, INTERIM + CHUNKED]), st.integers(0, 400))
def test_an_answer_that_is_cut_off_is_an_error_wherever(wire: bytes, cut: int) -> None:
    async def ask() -> None:
        world, kept = World(), wire[: cut % len(wire)]
        connection = world.connect()
        reply = connection.ask(b"POST", patience())
        if kept:
            connection.data_received(kept)
        world.transport.lose(ConnectionResetError("reset by peer"))
        with pytest.raises((AnswerBroken, NoAnswer)) as caught:
            await taken(reply)
        assert isinstance(caught.value, AnswerBroken) == bool(reply.status)
        assert isinstance(caught.value, ConnectionDropped) == (not kept)
        assert (world.free, world.lost) == ([], [connection])

    asyncio.run(ask())


async def test_the_next_request_follows_on_the_same_connection() -> None:
    world = World()
    connection = world.connect()
    for wire in (FIXED, CHUNKED, INTERIM + FIXED):
        reply = connection.ask(b"POST;", patience())
        connection.data_received(wire)
        assert await taken(reply) == BODY
        reply.close()
    assert (world.transport.written, len(world.free), world.lost) == (b"POST;" * 3, 3, [])


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(FIXED + FIXED, id="two answers"),
        pytest.param(CHUNKED + b"HTTP", id="the beginning of another"),
        pytest.param(FIXED + b"\0garbage", id="something else after it"),
        pytest.param(FIXED.replace(b"200 OK", b"200 OK\r\nconnection: close"), id="told to close"),
        pytest.param(FIXED.replace(b"1.1", b"1.0"), id="old protocol"),
    ],
)
async def test_after_a_doubtful_answer_the_connection_is_cut(wire: bytes) -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.data_received(wire)
    assert await taken(reply) == BODY
    assert (world.free, world.lost) == ([], [connection])


async def test_an_answer_before_the_request_was_out_costs_the_connection() -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    world.transport.unsent = 1
    connection.data_received(FIXED)
    assert await taken(reply) == BODY
    assert (world.free, world.lost) == ([], [connection])


async def test_whoever_speaks_unasked_is_cut_off() -> None:
    world = World()
    connection = world.connect()
    connection.data_received(FIXED)
    assert world.lost == [connection]


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        (b"SSH-2.0-OpenSSH_9\r\n", NoAnswer),
        (b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", NoAnswer),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", NoAnswer),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n", NoAnswer),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", NoAnswer),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", NoAnswer),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", AnswerBroken),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", AnswerBroken),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n", AnswerBroken),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", AnswerBroken),
    ],
)
async def test_what_is_not_http_is_an_error(wire: bytes, kind: type[UpstreamError]) -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.data_received(wire)
    with pytest.raises(kind):
        await taken(reply)
    assert (world.free, world.lost) == ([], [connection])


@pytest.mark.parametrize(
    ("head", "again"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n", id="headers"),
        pytest.param(b"HTTP/1.1 200 OK\r\nx-more: ", b"x" * 100, id="one header"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="interim answers"),
        pytest.param(CHUNKED[:-2], b"x-more: 1\r\n", id="trailers"),
        pytest.param(CHUNKED[:-5] + b"1;", b"x=" + b"y" * 100, id="a chunk's extensions"),
    ],
)
async def test_nothing_that_is_no_body_goes_on_for_ever(head: bytes, again: bytes) -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.data_received(head)
    for _ in range(100_000 // len(again)):
        if not world.transport.is_gone:
            connection.data_received(again)
    with pytest.raises((NoAnswer, AnswerBroken)):
        await taken(reply)
    assert world.lost == [connection]


async def test_many_small_chunks_are_not_too_many() -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.data_received(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(30_000):
        connection.data_received(b"1\r\na\r\n")
    connection.data_received(b"0\r\n\r\n")
    assert await taken(reply) == b"a" * 30_000
    assert world.free == [connection]


async def test_an_empty_answer_is_one() -> None:
    world = World()
    connection = world.connect()
    for wire in (b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"):
        reply = connection.ask(b"POST", patience())
        connection.data_received(wire)
        assert await taken(reply) == b""
    assert len(world.free) == 2


async def test_an_unframed_answer_that_is_reset_is_broken() -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.data_received(UNFRAMED)
    world.transport.lose(ConnectionResetError())
    with pytest.raises(AnswerBroken, match="cut off"):
        await taken(reply)


async def test_a_slow_taker_holds_the_server_back() -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (2 * MAX_UNREAD_BYTES))
    connection.data_received(b"x" * MAX_UNREAD_BYTES)
    assert not is_held_back(world)
    connection.data_received(b"x")
    assert is_held_back(world)
    assert len(await reply.read()) == MAX_UNREAD_BYTES + 1
    assert not is_held_back(world)
    connection.data_received(b"x" * (MAX_UNREAD_BYTES - 1))
    assert len(await taken(reply)) == MAX_UNREAD_BYTES - 1


async def test_a_connection_that_was_held_back_reads_on_once_its_answer_has_ended() -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    size = MAX_UNREAD_BYTES + 1
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size + b"x" * size)
    assert (world.transport.is_paused, world.free) == (False, [connection])
    assert len(await taken(reply)) == size


async def test_a_connection_that_is_gone_says_so() -> None:
    world = World()
    connection = world.connect()
    was_usable = connection.is_usable
    world.transport.lose(None)
    assert (was_usable, connection.is_usable) == (True, False)
    with pytest.raises(ConnectionDropped):
        await connection.ask(b"POST", patience()).answered()
    assert world.transport.written == b""


async def test_closing_the_reply_cuts_the_connection() -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.data_received(CHUNKED[:60])
    reply.close()
    assert (world.free, world.lost) == ([], [connection])
    connection.abort()
    connection.resume()
    connection.data_received(b"late")


async def test_breaking_it_off_tells_the_reader_why() -> None:
    world = World()
    connection = world.connect()
    reply = connection.ask(b"POST", patience())
    connection.break_off("the client was closed")
    with pytest.raises(NoAnswer, match="the client was closed"):
        await reply.answered()
    assert world.lost == [connection]
