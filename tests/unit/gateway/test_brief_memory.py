"""Answers that may be a little old, and for how long they go on without a database."""

import asyncio

from gateway.brief_memory import BriefMemory
from sessions.errors import RecordsUnavailable
from tests.support.session_fakes import FakeClock


class Asked:
    """Counts the questions; the answer is what stands in `answer`, unless the database is away."""

    def __init__(self) -> None:
        self.count = 0
        self.answer = "first"
        self.away = False
        self.going_on = asyncio.Event()
        self.going_on.set()

    async def __call__(self, key: str) -> str:
        self.count += 1
        answer = self.answer
        await self.going_on.wait()
        if self.away:
            raise RecordsUnavailable("no database")
        return f"{key}: {answer}"


def memory(asked: Asked, clock: FakeClock, *, ttl_s: float = 5.0) -> BriefMemory[str, str]:
    return BriefMemory(ask=asked, otherwise="unknown", ttl_s=ttl_s, clock=clock.ticks)


async def test_an_answer_is_remembered_for_a_while_and_for_its_key_alone() -> None:
    asked, clock = Asked(), FakeClock()
    known = memory(asked, clock)
    assert [await known.get("a"), await known.get("a"), await known.get("b")] == ["a: first", "a: first", "b: first"]
    assert asked.count == 2
    asked.answer = "second"
    clock.advance(4.9)
    assert await known.get("a") == "a: first"
    clock.advance(0.2)
    assert await known.get("a") == "a: second"


async def test_without_time_to_remember_everything_is_asked() -> None:
    asked = Asked()
    known = memory(asked, FakeClock(), ttl_s=0)
    assert [await known.get("a") for _ in range(3)] == ["a: first"] * 3
    assert asked.count == 3


async def test_without_a_database_the_last_answer_goes_on_and_is_not_asked_for_each_time() -> None:
    asked, clock = Asked(), FakeClock()
    known = memory(asked, clock)
    await known.get("a")
    asked.away = True
    clock.advance(6)
    for _ in range(3):
        assert (await known.get("a"), await known.get("b")) == ("a: first", "unknown")
    assert asked.count == 3
    asked.away = False
    clock.advance(6)
    assert await known.get("b") == "b: first"


async def test_what_was_changed_here_is_asked_for_at_once_even_while_an_old_answer_comes() -> None:
    asked, clock = Asked(), FakeClock()
    known = memory(asked, clock)
    asked.going_on.clear()
    early = asyncio.create_task(known.get("a"))
    await asyncio.sleep(0)
    asked.answer = "second"
    known.forget("a")
    asked.going_on.set()
    assert await early == "a: first"
    assert await known.get("a") == "a: second"


async def test_the_oldest_answers_go_first() -> None:
    asked = Asked()
    known = memory(asked, FakeClock(), ttl_s=1_000_000)
    for number in range(10_001):
        await known.get(str(number))
    before = asked.count
    await known.get("1")
    assert asked.count == before
    await known.get("0")
    assert asked.count == before + 1
