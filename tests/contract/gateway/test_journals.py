"""What every store of journals promises, on memory and on real Redis."""

from dataclasses import replace
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from gateway.adapters.memory_journals import MemoryJournals
from gateway.adapters.redis_journals import RedisJournals
from gateway.domain.journal import Head, KeptJournal, Mode, Outcome, Page, told
from gateway.errors import JournalUnavailable
from gateway.journal_ports import Journals
from sessions.domain.events import Cancelled, Done, Failed, Terminal
from sessions.domain.session import SessionId
from sessions.domain.turn import IdempotencyKey, TurnError
from tests.support.records_world import turn as a_turn

pytestmark = pytest.mark.redis

KEEP_S = 60.0


@pytest.fixture(params=["memory", "redis"])
def journals(request: pytest.FixtureRequest, redis_client: Redis) -> Journals:
    return MemoryJournals() if request.param == "memory" else redis_journals(redis_client)


def redis_journals(client: Redis) -> RedisJournals:
    return RedisJournals(client=client, keep_s=KEEP_S, lease_key=lambda session: f"lease:{session}")


def head(attempt: str = "a", turn: int = 1) -> Head:
    return Head(SessionId(uuid4()), turn, attempt, "here", "r1", "new", IdempotencyKey("k", "d"))


def page(of: Head, end: int = 0, text: str = "", terminal: Terminal | None = None, mode: Mode = Mode.APPEND) -> Page:
    return Page(of, mode, end, text, terminal)


async def opened(journals: Journals, of: Head) -> None:
    assert await journals.write([page(of, mode=Mode.OPEN)]) == [Outcome.KEPT]


async def test_what_was_written_is_read(journals: Journals) -> None:
    of = head()
    await opened(journals, of)
    assert await journals.read(of.session, 1) == KeptJournal(of, "", None)
    assert await journals.write([page(of, 2, "您好")]) == [Outcome.KEPT]
    assert await journals.write([page(of, 5, " \n🙂", Cancelled())]) == [Outcome.KEPT]
    assert await journals.read(of.session, 1) == KeptJournal(of, "您好 \n🙂", Cancelled())
    assert await journals.latest(of.session) == of


@pytest.mark.parametrize(
    "terminal",
    [told(Done(a_turn())), Cancelled(), Failed(TurnError("tutor_broke", "the reply broke off", retryable=True))],
    ids=lambda each: type(each).__name__,
)
async def test_every_end_is_read_as_it_was_written(journals: Journals, terminal: Terminal) -> None:
    of = head()
    await journals.write([page(of, 2, "Hi", terminal, Mode.OPEN)])
    assert await journals.read(of.session, 1) == KeptJournal(of, "Hi", terminal)


async def test_nothing_is_read_of_what_was_not_written(journals: Journals) -> None:
    of = head()
    await opened(journals, of)
    assert await journals.read(of.session, 2) is None
    assert await journals.read(SessionId(uuid4()), 1) is None
    assert await journals.latest(SessionId(uuid4())) is None


async def test_a_page_that_is_written_again_changes_nothing(journals: Journals) -> None:
    of = head()
    await opened(journals, of)
    for again in (page(of, 2, "ab"), page(of, 2, "ab"), page(of, 4, "abcd"), page(of, 4, "cd", Cancelled())):
        assert await journals.write([again]) == [Outcome.KEPT]
    assert await journals.write([page(of, 4, "cd", Cancelled())]) == [Outcome.KEPT]
    assert await journals.read(of.session, 1) == KeptJournal(of, "abcd", Cancelled())


async def test_many_pages_are_written_in_one_step(journals: Journals) -> None:
    heads = [head(str(number), number) for number in range(1, 40)]
    assert await journals.write([page(each, 1, "x", mode=Mode.OPEN) for each in heads]) == [Outcome.KEPT] * len(heads)
    gone = head("gone")
    outcomes = await journals.write([page(heads[0], 2, "y"), page(gone, 2, "y"), page(heads[1], 2, "y")])
    assert outcomes == [Outcome.KEPT, Outcome.GONE, Outcome.KEPT]
    assert await journals.read(gone.session, 1) is None
    assert await journals.read(heads[1].session, 2) == KeptJournal(heads[1], "xy", None)
    assert await journals.write([]) == []


async def test_a_lost_journal_is_written_again_from_its_beginning(journals: Journals) -> None:
    of = head()
    assert await journals.write([page(of, 4, "cd")]) == [Outcome.GONE]
    assert await journals.write([page(of, 4, "abcd", mode=Mode.AGAIN)]) == [Outcome.KEPT]
    assert await journals.write([page(of, 6, "ef")]) == [Outcome.KEPT]
    assert await journals.read(of.session, 1) == KeptJournal(of, "abcdef", None)


async def test_a_later_attempt_takes_the_place_and_the_earlier_one_spoils_nothing(journals: Journals) -> None:
    first = head("first")
    second = replace(first, attempt="second", owner="there")
    await journals.write([page(first, 3, "abc", mode=Mode.OPEN)])
    await journals.write([page(second, 1, "x", mode=Mode.OPEN)])
    for mode in (Mode.APPEND, Mode.AGAIN):
        assert await journals.write([page(first, 5, "abcde", Cancelled(), mode)]) == [Outcome.REPLACED]
    assert await journals.read(first.session, 1) == KeptJournal(second, "x", None)
    assert await journals.latest(first.session) == second


async def test_a_turn_runs_while_its_session_has_a_lease(journals: Journals, redis_client: Redis) -> None:
    session = SessionId(uuid4())
    assert not await journals.is_running(session)
    if isinstance(journals, MemoryJournals):
        journals.leases.add(session)
    else:
        await redis_client.set(f"lease:{session}", "somebody")
    assert await journals.is_running(session)


async def test_in_redis_an_ended_journal_is_kept_for_a_while_and_a_running_one_longer(redis_client: Redis) -> None:
    journals, of = redis_journals(redis_client), head()
    keys = [f"dy:jrn:{of.session}:1", f"dy:jrn:{of.session}"]
    await journals.write([page(of, 1, "x", mode=Mode.OPEN)])
    assert min([await redis_client.ttl(key) for key in keys]) > 10 * KEEP_S
    await journals.write([page(of, 1, "", Cancelled())])
    assert max([await redis_client.ttl(key) for key in keys]) <= KEEP_S
    assert set(await redis_client.keys("dy:jrn:*")) == {key.encode() for key in keys}


async def test_in_redis_only_released_text_is_kept(redis_client: Redis) -> None:
    of = head()
    turn = a_turn()
    await redis_journals(redis_client).write([page(of, len(turn.reply), turn.reply, told(Done(turn)), Mode.OPEN)])
    stored = str(await redis_client.xrange(f"dy:jrn:{of.session}:1"))
    assert "A reply" in stored
    assert "Message" not in stored


async def test_in_redis_what_cannot_be_read_is_as_good_as_missing(redis_client: Redis) -> None:
    journals, of = redis_journals(redis_client), head()
    await redis_client.set(f"dy:jrn:{of.session}", "?")
    assert await journals.latest(of.session) is None
    key = f"dy:jrn:{of.session}:1"
    await redis_client.xadd(key, {"attempt": "a", "head": "?"}, id="1-0")
    assert await journals.read(of.session, 1) is None
    await opened(journals, of)
    await redis_client.xadd(key, {"text": "later"}, id="20-0")
    assert await journals.read(of.session, 1) is None


async def test_a_redis_that_is_away_is_said_to_be() -> None:
    away = redis_journals(Redis.from_url("redis://127.0.0.1:1/0"))
    of = head()
    for asking in (away.read(of.session, 1), away.latest(of.session), away.is_running(of.session)):
        with pytest.raises(JournalUnavailable):
            await asking
    with pytest.raises(JournalUnavailable):
        await away.write([page(of, mode=Mode.OPEN)])
