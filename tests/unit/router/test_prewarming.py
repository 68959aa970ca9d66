"""Prewarms: few at a time, the latest of a session, none once the trainee is back."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.errors import EngineRejected, EngineUnreachable
from router.load_book import LoadBook
from router.prewarming import Prewarming
from router.settings import RouterSettings
from router.tally import PrewarmOutcome, Tally
from tests.support.eventually import eventually
from tests.support.fake_engine import FakeEngine

A = Replica(ReplicaId("a"), "http://a", Health.READY)
B = Replica(ReplicaId("b"), "http://b", Health.READY)
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
DONE, FAILED, DROPPED, NO_ROOM = (
    PrewarmOutcome.DONE,
    PrewarmOutcome.FAILED,
    PrewarmOutcome.DROPPED,
    PrewarmOutcome.NO_ROOM,
)


def key(number: int) -> AffinityKey:
    return AffinityKey(f"m\nsession-{number}")


def call(name: str = "turn-1", body: bytes = BODY) -> Call:
    return Call(CallPath.CHAT, body, "m", True, name)


class House:
    def __init__(
        self, *, share: float = 0.25, max_in_flight: int = 100, timeout_s: float = 30.0, engine_priority: bool = False
    ) -> None:
        self.engine = FakeEngine()
        self.book = LoadBook(max_in_flight=max_in_flight, kv_share=1.0)
        self.tally = Tally()
        settings = RouterSettings(prewarm_share=share, first_byte_timeout_s=timeout_s, engine_priority=engine_priority)
        self.prewarming = Prewarming(engine=self.engine, load=self.book, settings=settings, tally=self.tally)

    @property
    def asked(self) -> list[str]:
        return [each.request_id.removeprefix("prewarm-") for each in self.engine.calls]

    @property
    def outcomes(self) -> dict[PrewarmOutcome, int]:
        return dict(self.tally.prewarms)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.prewarming.run())
            await asyncio.sleep(0)
            yield
            task.cancel()
        assert (self.engine.open_answers, self.book.own()) == (0, {})

    async def ended(self, how_many: int) -> None:
        await eventually(lambda: self.tally.prewarms.total() == how_many)


async def test_a_prewarm_is_sent_as_one_and_holds_a_place_while_it_runs() -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        house.prewarming.start(key(1), A, call())
        await eventually(lambda: house.asked == ["turn-1"])
        assert house.book.own() == {A.id: 1}
        assert json.loads(house.engine.calls[0].body)["max_tokens"] == 1
        assert not house.engine.calls[0].is_streamed
    assert house.outcomes == {DROPPED: 1}


async def test_an_engine_that_goes_by_priorities_is_told_to_let_turns_go_first() -> None:
    for is_on, headers in ((True, (("X-Vllm-Priority", "1"),)), (False, ())):
        house = House(engine_priority=is_on)
        async with house.running():
            house.prewarming.start(key(1), A, call())
            await house.ended(1)
        assert house.engine.calls[0].headers == headers


async def test_one_at_a_time_while_there_are_few_turns_and_more_beside_many() -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        for number in range(10):
            house.prewarming.start(key(number), A, call(str(number)))
        await eventually(lambda: house.asked == ["0"])
        turns = [house.book.reserve(A.id, 1) for _ in range(12)]
        house.prewarming.start(key(10), A, call("10"))
        await eventually(lambda: house.asked == ["0", "1", "2"])
        for turn in turns:
            turn.release()


async def test_those_that_wait_follow_when_one_has_ended() -> None:
    house = House()
    async with house.running():
        for number in range(5):
            house.prewarming.start(key(number), A, call(str(number)))
        await house.ended(5)
    assert house.asked == ["0", "1", "2", "3", "4"]
    assert house.outcomes == {DONE: 5}


async def test_replicas_do_not_wait_for_each_other() -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        house.prewarming.start(key(1), A, call("1"))
        house.prewarming.start(key(2), A, call("2"))
        assert await house.prewarming.warmed(key(3), B, call("3")) is DONE


@pytest.mark.parametrize("number", [0, 1], ids=["running", "waiting"])
async def test_the_trainee_who_is_faster_ends_it_at_once(number: int) -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        for each in (0, 1):
            house.prewarming.start(key(each), A, call(str(each)))
        await eventually(lambda: house.asked == ["0"])
        house.prewarming.drop(key(number))
        house.prewarming.drop(key(number))
        await house.ended(1)
        assert house.outcomes == {DROPPED: 1}
        await eventually(lambda: house.asked == (["0", "1"] if number == 0 else ["0"]))
        house.prewarming.drop(key(1 - number))
        await house.ended(2)
        assert house.book.own() == {}


async def test_dropped_before_it_has_begun_it_is_never_sent() -> None:
    house = House()
    async with house.running():
        house.prewarming.start(key(1), A, call())
        house.prewarming.drop(key(1))
        await house.ended(1)
    assert (house.asked, house.outcomes) == ([], {DROPPED: 1})


async def test_the_latest_of_a_session_counts() -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        house.prewarming.start(key(1), A, call("first"))
        await eventually(lambda: house.asked == ["first"])
        house.prewarming.start(key(1), B, call("second"))
        await house.ended(2)
    assert (house.asked, house.outcomes) == (["first", "second"], {DROPPED: 1, DONE: 1})


@pytest.mark.parametrize("error", [EngineRejected("a", "too long"), EngineUnreachable("a", "refused")])
async def test_a_failure_is_counted_and_nothing_else(error: EngineRejected | EngineUnreachable) -> None:
    house = House()
    house.engine.refuses(error)
    async with house.running():
        assert await house.prewarming.warmed(key(1), A, call()) is FAILED
        house.engine.heal()
        assert await house.prewarming.warmed(key(1), A, call(body=b"no json")) is FAILED
        assert await house.prewarming.warmed(key(1), A, call()) is DONE
    assert not house.tally.attempts


async def test_a_frozen_replica_is_not_waited_for_longer_than_for_a_first_token() -> None:
    house = House(timeout_s=0.05)
    house.engine.frozen.add(A.id)
    async with house.running():
        assert await house.prewarming.warmed(key(1), A, call()) is FAILED
        house.engine.heal()
        assert await house.prewarming.warmed(key(2), A, call()) is DONE


async def test_a_full_replica_is_not_prewarmed() -> None:
    house = House(max_in_flight=1)
    async with house.running():
        with_turn = house.book.reserve(A.id, 1)
        assert await house.prewarming.warmed(key(1), A, call()) is NO_ROOM
        with_turn.release()
        assert await house.prewarming.warmed(key(1), A, call()) is DONE


async def test_a_draining_replica_is_not_prewarmed() -> None:
    house = House()
    async with house.running():
        assert await house.prewarming.warmed(key(1), replace(A, is_draining=True), call()) is NO_ROOM
    assert house.asked == []


async def test_nothing_is_sent_where_it_is_switched_off_or_not_running() -> None:
    house = House(share=0.0)
    assert not house.prewarming.is_on
    async with house.running():
        assert await house.prewarming.warmed(key(1), A, call()) is NO_ROOM
    idle = House()
    assert await idle.prewarming.warmed(key(1), A, call()) is NO_ROOM
    assert (house.asked, idle.asked) == ([], [])


async def test_whoever_no_longer_wants_the_outcome_drops_the_prewarm() -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        task = asyncio.ensure_future(house.prewarming.warmed(key(1), A, call()))
        await eventually(lambda: house.asked == ["turn-1"])
        task.cancel()
        await house.ended(1)
        with pytest.raises(asyncio.CancelledError):
            await task
    assert house.outcomes == {DROPPED: 1}


async def test_too_many_that_wait_make_the_oldest_give_up() -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        for number in range(260):
            house.prewarming.start(key(number), A, call(str(number)))
        assert house.outcomes == {NO_ROOM: 3}
        house.prewarming.drop(key(0))
        await eventually(lambda: house.asked[-1:] == ["4"])


async def test_prompts_that_wait_are_bounded_by_their_bytes() -> None:
    house = House()
    house.engine.frozen.add(A.id)
    async with house.running():
        for number in range(12):
            house.prewarming.start(key(number), A, call(str(number), body=BODY + b" " * (2 << 20)))
        assert house.outcomes == {NO_ROOM: 4}
