"""A body is read whole, and no more than may be."""

import pytest

from router.http.asgi import Message, Receive
from router.http.body import demand_json, read_body
from router.http.errors import BodyTooLarge, ClientLost, NotJson


def giving(*messages: Message) -> Receive:
    waiting = iter(messages)

    async def receive() -> Message:
        return next(waiting)

    return receive


def piece(data: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": data, "more_body": more}


async def test_pieces_are_joined() -> None:
    receive = giving(piece(b"a", more=True), piece(b"b", more=True), piece(b"c"))
    assert await read_body(receive, {}, limit=3) == b"abc"


async def test_too_many_bytes_are_refused_as_soon_as_known() -> None:
    with pytest.raises(BodyTooLarge):
        await read_body(giving(), {b"content-length": b"4"}, limit=3)
    with pytest.raises(BodyTooLarge):
        await read_body(giving(piece(b"abcd")), {}, limit=3)
    with pytest.raises(BodyTooLarge):
        await read_body(giving(piece(b"ab", more=True), piece(b"cd", more=True)), {}, limit=3)


async def test_a_client_that_goes_while_it_sends_is_lost() -> None:
    gone: Message = {"type": "http.disconnect"}
    for receive in (giving(gone), giving(piece(b"a", more=True), gone)):
        with pytest.raises(ClientLost):
            await read_body(receive, {}, limit=3)


def test_a_body_must_be_declared_as_json() -> None:
    demand_json({b"content-type": b"application/json"})
    demand_json({b"content-type": b"Application/JSON; charset=utf-8"})
    for wrong in ({}, {b"content-type": b"text/plain"}, {b"content-type": b"application/jsonp"}):
        with pytest.raises(NotJson):
            demand_json(wrong)
