"""A turn as text."""

import pytest
from typing_extensions import override

from router.carrying import Carried
from router.chat_turn import RoutedStream
from router.domain.exchange import Finished, TextPiece
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.errors import EngineBroke
from tests.support.fake_engine import PIECES, WHOLE_REPLY
from tests.support.router_house import KEY, REQUEST, House


async def test_pieces_come_as_they_are_heard_and_the_end_once() -> None:
    house = House()
    async with house.router.turn(KEY, REQUEST) as routed:
        assert (routed.pin, routed.continued, routed.has_finished) == (PinDecision.NEW, 0, False)
        assert await anext(routed) == TextPiece(PIECES[0])
        assert [item async for item in routed] == list(WHOLE_REPLY[1:])
        with pytest.raises(StopAsyncIteration):
            await anext(routed)
    assert house.is_idle()
    assert house.tally.attempts == {(routed.replica, "completed"): 1}


async def test_a_turn_that_is_left_after_its_end_counts_as_complete() -> None:
    house = House()
    async with house.router.turn(KEY, REQUEST) as routed:
        while not isinstance(await anext(routed), Finished):
            pass
    assert house.tally.attempts == {(routed.replica, "completed"): 1}
    assert len(house.prompts) == 1


async def test_a_continued_turn_says_so_and_where_it_is_now() -> None:
    house = House()
    home = (await house.turn())[0]
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=5)
    async with house.router.turn(KEY, REQUEST) as routed:
        assert routed.replica == home
        items = [item async for item in routed]
        assert (routed.replica != home, routed.continued, routed.pin) == (True, 1, PinDecision.MOVED)
    assert "".join(item.text for item in items if isinstance(item, TextPiece)) == "".join(PIECES)


async def test_leaving_by_an_error_cuts_the_turn() -> None:
    house = House()
    with pytest.raises(KeyError):
        async with house.router.turn(KEY, REQUEST):
            raise KeyError
    assert house.is_idle()


async def test_a_turn_that_could_not_be_entered_holds_nothing() -> None:
    house = House()
    for replica in ("a", "b", "c"):
        house.fake.refuses(EngineBroke(replica, "x"))
    with pytest.raises(EngineBroke):
        await house.turn()
    assert house.is_idle()


class ScriptedCarried(Carried):
    """Bytes as no replica would send them, but a relay might pass them on."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = iter(parts)

    @property
    @override
    def replica(self) -> ReplicaId:
        return ReplicaId("a")

    @override
    async def read(self) -> bytes:
        return next(self._parts, b"")


@pytest.mark.parametrize(
    ("parts", "why"),
    [((), "cut off"), ((b"data: {}\n\n",), "cut off"), ((b"data: half",), "JSON")],
)
async def test_what_is_no_reply_is_an_error(parts: tuple[bytes, ...], why: str) -> None:
    routed = RoutedStream(ScriptedCarried(*parts))
    with pytest.raises(EngineBroke, match=why):
        await anext(routed)


async def test_a_turn_that_was_never_entered_can_be_left() -> None:
    turn = House().router.turn(KEY, REQUEST)
    await turn.__aexit__(None, None, None)
