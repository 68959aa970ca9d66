"""What letters between processes promise, on memory and over real Redis."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from gateway.adapters.memory_journals import MemoryMail
from gateway.adapters.redis_mail import RedisMail
from gateway.domain.journal import Cancel, Leave, Letter, News, Passage, Place, Watch, told
from gateway.errors import JournalUnavailable
from gateway.journal_ports import Mail
from sessions.domain.events import Cancelled, Done
from sessions.domain.session import SessionId
from tests.support.eventually import eventually
from tests.support.records_world import turn

pytestmark = pytest.mark.redis

SESSION = SessionId(uuid4())
PLACE = Place(SESSION, 3, "an-attempt", 17)
LETTERS: list[Letter] = [
    Watch("there", (PLACE, PLACE)),
    Watch("there", ()),
    Leave("there", (PLACE,)),
    Cancel(SESSION, 3, "an-attempt"),
    News(()),
    News((Passage(SESSION, 3, "an-attempt", 2, "您好", None), Passage(SESSION, 4, "b", 0, "", Cancelled()))),
    News((Passage(SESSION, 3, "an-attempt", 9, "", told(Done(turn()))),)),
]

MadeMail = Callable[[str], Mail]


@pytest.fixture(params=["memory", "redis"])
def mail(request: pytest.FixtureRequest, redis_client: Redis) -> MadeMail:
    boxes: dict[str, asyncio.Queue[Letter]] = {}
    if request.param == "memory":
        return lambda name: MemoryMail(name=name, boxes=boxes)
    return lambda name: RedisMail(client=redis_client, name=name)


@asynccontextmanager
async def reading(mail: Mail) -> AsyncIterator[list[Letter]]:
    got: list[Letter] = []

    async def read() -> None:
        async for letter in mail.letters():
            got.append(letter)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(read())
        yield got
        task.cancel()


async def sent(mail: Mail, to: str, letter: Letter, *, comes: bool = True) -> None:
    """Once the receiver is there, or is there no more."""
    deadline = time.monotonic() + 5
    while await mail.send(to, letter) is not comes:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def come(got: list[Letter], count: int) -> None:
    await eventually(lambda: len(got) >= count)


async def test_every_letter_comes_as_it_was_sent_and_in_order(mail: MadeMail) -> None:
    async with reading(mail("here")) as got:
        for letter in LETTERS:
            await sent(mail("there"), "here", letter)
        await come(got, len(LETTERS))
    assert got == LETTERS


async def test_a_letter_to_nobody_is_said_to_be_lost(mail: MadeMail) -> None:
    assert not await mail("there").send("nowhere", LETTERS[0])


async def test_a_letter_comes_to_no_other(mail: MadeMail) -> None:
    async with reading(mail("one")) as first, reading(mail("two")) as second:
        await sent(mail("there"), "two", LETTERS[0])
        await sent(mail("there"), "one", LETTERS[3])
        await come(first, 1)
        await come(second, 1)
    assert (first, second) == ([LETTERS[3]], [LETTERS[0]])


async def test_who_has_gone_gets_nothing_any_more(mail: MadeMail) -> None:
    async with reading(mail("here")):
        await sent(mail("there"), "here", LETTERS[0])
    await sent(mail("there"), "here", LETTERS[0], comes=False)


async def test_over_redis_a_line_that_was_cut_is_made_anew(redis_client: Redis) -> None:
    here, there = RedisMail(client=redis_client, name="here"), RedisMail(client=redis_client, name="there")
    async with reading(here) as got:
        await sent(there, "here", LETTERS[0])
        await come(got, 1)
        await redis_client.client_kill_filter(_type="pubsub")
        await sent(there, "here", LETTERS[3])
        await come(got, 2)
    assert got == [LETTERS[0], LETTERS[3]]


async def test_over_redis_what_is_no_letter_is_passed_over(redis_client: Redis) -> None:
    here, there = RedisMail(client=redis_client, name="here"), RedisMail(client=redis_client, name="there")
    async with reading(here) as got:
        await sent(there, "here", LETTERS[0])
        for nonsense in (b"?", b"\xff", b"[]", b'{"kind":"song"}', b'{"kind":"cancel"}'):
            await redis_client.publish("dy:jrn:to:here", nonsense)
        await sent(there, "here", LETTERS[3])
        await come(got, 2)
    assert got == [LETTERS[0], LETTERS[3]]


async def test_over_redis_a_silent_line_is_asked_and_kept(redis_client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.adapters.redis_mail._PING_S", 0.02)
    here, there = RedisMail(client=redis_client, name="here"), RedisMail(client=redis_client, name="there")
    async with reading(here) as got:
        await sent(there, "here", LETTERS[0])
        line, asked, deadline = await lines(redis_client), await pings(redis_client), time.monotonic() + 5
        while await pings(redis_client) < asked + 5:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        assert await lines(redis_client) == line
        await sent(there, "here", LETTERS[3])
        await come(got, 2)


async def lines(client: Redis) -> list[str]:
    return [each["id"] for each in await client.client_list(_type="pubsub")]


async def pings(client: Redis) -> int:
    return int((await client.info("commandstats")).get("cmdstat_ping", {}).get("calls", 0))


async def test_a_redis_that_is_away_is_said_to_be() -> None:
    away = RedisMail(client=Redis.from_url("redis://127.0.0.1:1/0"), name="here")
    with pytest.raises(JournalUnavailable):
        await away.send("there", LETTERS[0])
    async with reading(away) as got:
        await asyncio.sleep(0.3)
    assert got == []
