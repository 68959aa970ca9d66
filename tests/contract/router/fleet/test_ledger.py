"""The promise of `Ledger` and `Register`, on memory and on a real Postgres."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from router.domain.fleet import ReplicaId
from router.fleet.adapters.memory_ledger import MemoryLedger
from router.fleet.adapters.postgres_ledger import PostgresLedger
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import Floor, PoolBook, Round
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, WarmReport, ordered
from tests.support.fleet_ledger import leading_ledger

pytestmark = pytest.mark.postgres

POOL, OTHER = PoolName("qwen/7b"), PoolName("模型")
NOW = 1_800_000_000.25
WENT_WARM = PastStart(began=NOW - 120.5, ended=NOW, went_warm=True)
FULL = ReplicaRecord(
    id=ReplicaId("副本 1"),
    pool=POOL,
    reached={Milestone.REQUESTED: NOW, Milestone.PREFIXES_WARM: NOW + 90.125},
    url="http://10.0.0.1:8000",
    failure="exit code 137: out of memory — 内存不足",
    report=WarmReport("sha256:00", first_token_cold_ms=812.5, first_token_warm_ms=40.0, prefixes=3, took_s=9.25),
)
ROUND = Round(
    pool=POOL,
    at=NOW,
    leader="pod-1",
    wanted=6,
    ready=4,
    present=5,
    wait="1 on its way",
    short="4 of 6 replicas are ready",
    short_at=NOW + 600,
)

Both = MemoryLedger | PostgresLedger


@pytest.fixture(params=["memory", "postgres"])
async def ledger(
    request: pytest.FixtureRequest, database_engine: AsyncEngine, database_url: str
) -> AsyncIterator[Both]:
    if request.param == "memory":
        yield MemoryLedger()
        return
    async with leading_ledger(database_engine, database_url) as found:
        yield found


async def test_an_unknown_pool_has_an_empty_book(ledger: Both) -> None:
    assert await ledger.read(POOL) == await ledger.book(POOL) == PoolBook(POOL)
    assert await ledger.rounds() == []


async def test_a_record_is_read_as_it_was_saved(ledger: Both) -> None:
    plain = ordered(ReplicaId("plain"), POOL, now=NOW)
    await ledger.save(FULL)
    await ledger.save(plain)
    assert (await ledger.read(POOL)).records == {FULL.id: FULL, plain.id: plain}
    assert (await ledger.read(OTHER)).records == {}


async def test_the_last_state_of_a_record_counts(ledger: Both) -> None:
    later = replace(ordered(FULL.id, POOL, now=NOW).at(Milestone.JOINED, NOW + 60), url="http://b")
    await ledger.save(FULL)
    await ledger.save(later)
    await ledger.save(later)
    assert (await ledger.read(POOL)).records == {FULL.id: later}


async def test_the_same_name_in_two_pools_is_two_replicas(ledger: Both) -> None:
    there = replace(FULL, pool=OTHER, failure="")
    await ledger.save(FULL)
    await ledger.save(there)
    await ledger.forget(FULL)
    assert (await ledger.read(POOL)).records == {}
    assert (await ledger.read(OTHER)).records == {FULL.id: there}


async def test_a_host_may_name_what_was_ordered_under_another_name(ledger: Both) -> None:
    order = ordered(ReplicaId("order-1"), POOL, now=NOW)
    named = replace(order, id=ReplicaId("pod-x"))
    await ledger.save(order)
    for _ in range(2):
        await ledger.save(named, instead_of=order.id)
        assert (await ledger.read(POOL)).records == {named.id: named}
    await ledger.save(named, instead_of=named.id)
    assert (await ledger.read(POOL)).records == {named.id: named}


async def test_what_is_forgotten_is_gone_and_its_start_told_once(ledger: Both) -> None:
    failed = PastStart(began=NOW, ended=NOW + 30, went_warm=False)
    await ledger.save(FULL)
    for _ in range(2):
        await ledger.forget(FULL, start=failed)
    book = await ledger.read(POOL)
    assert (book.records, book.starts) == ({}, (failed,))


async def test_starts_are_told_in_their_order_and_of_their_pool(ledger: Both) -> None:
    second = replace(WENT_WARM, began=NOW - 500, went_warm=False)
    await ledger.tell(POOL, WENT_WARM)
    await ledger.tell(POOL, second)
    await ledger.tell(OTHER, second)
    assert (await ledger.read(POOL)).starts == (WENT_WARM, second)
    assert (await ledger.read(OTHER)).starts == (second,)


async def test_the_last_hundred_starts_are_kept(ledger: Both) -> None:
    told = [PastStart(began=NOW + number, ended=NOW + number + 60, went_warm=True) for number in range(103)]
    await ledger.tell(OTHER, WENT_WARM)
    for start in told:
        await ledger.tell(POOL, start)
    assert (await ledger.read(POOL)).starts == tuple(told[-100:])
    assert (await ledger.read(OTHER)).starts == (WENT_WARM,)


async def test_the_last_round_of_each_pool_is_shown(ledger: Both) -> None:
    quiet = Round(pool=OTHER, at=NOW, leader="pod-1", wanted=None, ready=0, present=0)
    later = replace(ROUND, at=NOW + 5, wanted=0, short="", short_at=None)
    for each in (ROUND, quiet, later):
        await ledger.show(each)
    assert sorted(await ledger.rounds(), key=lambda shown: shown.pool) == [later, quiet]


async def test_a_floor_is_set_changed_and_taken_back(ledger: Both) -> None:
    floor = Floor(replicas=4, until=NOW + 3600, set_by="acct-1", reason="an exam 考试")
    await ledger.set_floor(POOL, floor)
    assert (await ledger.book(POOL)).floor == floor
    changed = Floor(replicas=2, until=None, set_by="acct-2")
    await ledger.set_floor(POOL, changed)
    assert (await ledger.read(POOL)).floor == changed
    for _ in range(2):
        await ledger.set_floor(POOL, None)
        assert (await ledger.read(POOL)).floor is None


@pytest.mark.parametrize("words", ["ends\0here", "half a pair \ud800"])
async def test_last_words_of_a_process_can_be_any_bytes(ledger: Both, words: str) -> None:
    await ledger.save(replace(FULL, failure=words))
    assert (await ledger.read(POOL)).records[FULL.id].failure.startswith(words[:4])
