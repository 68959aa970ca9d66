"""The line to Postgres is cut again and again, also between a commit and its answer: each turn is on record once."""

import asyncio
import random
from collections import Counter

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.local_turn_spool import LocalTurnSpool
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.spooled_records import SpooledRecords
from sessions.domain.history import History
from sessions.domain.session import Session
from sessions.domain.spooled import Fate
from sessions.use_cases.drain_spool import DrainSpool
from sessions.use_cases.session_histories import SessionHistories
from sessions.use_cases.turn_book import TurnBook
from tests.support.cut_line import CutLine, cut_line
from tests.support.records_fixture import add_sessions
from tests.support.records_world import scenario, session, settle, turn

pytestmark = [pytest.mark.postgres]

SESSIONS, TURNS, CUTS = 20, 12, 40


async def cut_and_mend(line: CutLine, dice: random.Random) -> None:
    for _ in range(CUTS):
        await asyncio.sleep(dice.uniform(0.002, 0.05))
        line.cut()
        await asyncio.sleep(dice.uniform(0.0, 0.02))
        line.mend()


async def play(book: TurnBook, run: Session) -> None:
    """Every turn of a session, each acknowledged before the next begins."""
    history = History()
    for number in range(1, TURNS + 1):
        booked = await book.add(run, history, turn(number, of=run, key=f"key-{number}"))
        assert booked.session is not None, booked.turn.error
        run, history = booked.session, booked.history


RUNS = [session(f"run-{number}") for number in range(SESSIONS)]


async def prepare(url: str) -> None:
    engine = postgres_engine(url)
    await settle(engine)
    records = PostgresRecords(engine=engine)
    async with records.begin() as work:
        await work.scenarios.add(scenario())
    await add_sessions(records, *RUNS)
    await engine.dispose()


async def play_all(url: str, line: CutLine, dice: random.Random) -> Counter[Fate]:
    """What became of the turns that had to wait."""
    engine = postgres_engine(url)
    real = PostgresRecords(engine=engine)
    spool, sets = LocalTurnSpool(most_turns=10_000, most_bytes=1 << 26), MemoryWorkingSets()
    records = SpooledRecords(records=real, spool=spool, working_sets=sets)
    book = TurnBook(records=records, histories=SessionHistories(records=records, working_sets=sets), spool=spool)
    drains = [DrainSpool(records=real, spool=spool) for _ in range(2)]
    playing = asyncio.gather(cut_and_mend(line, dice), *(play(book, run) for run in RUNS))
    while not playing.done() or spool.count:
        await asyncio.gather(*(drain() for drain in drains))
        await asyncio.sleep(0)
    await playing
    await engine.dispose()
    return drains[0].drained + drains[1].drained


async def check(url: str) -> None:
    engine = postgres_engine(url)
    async with engine.connect() as connection:
        turns = await connection.execute(
            text("select session_id, number, reply from turns order by session_id, number")
        )
        told = await connection.execute(text("select subject, facts->>'turn' from outbox where kind like 'turn.%'"))
        rows = await connection.execute(text("select version, turn_count from sessions"))
        assert [tuple(row) for row in turns] == [
            (run.id, number, turn(number).reply)
            for run in sorted(RUNS, key=lambda each: each.id)
            for number in range(1, TURNS + 1)
        ]
        assert Counter(map(tuple, told)) == {(str(run.id), str(n)): 1 for run in RUNS for n in range(1, TURNS + 1)}
        assert Counter(map(tuple, rows)) == {(TURNS + 1, TURNS): SESSIONS}
    await engine.dispose()


@pytest.mark.parametrize("seed", range(1))
async def test_whatever_is_cut_off_each_turn_is_written_once(database_url: str, seed: int) -> None:
    direct = make_url(database_url)
    assert direct.port is not None
    await prepare(database_url)
    async with cut_line(direct.port) as line:
        behind = direct.set(port=make_url(line.url).port).render_as_string(hide_password=False)
        drained = await play_all(behind, line, random.Random(seed))  # noqa: S311
    await check(database_url)
    assert drained[Fate.CONFLICT] == 0
    assert drained[Fate.WRITTEN] > 0


async def one_turn(url: str, engine: AsyncEngine, *, held_by: str) -> Counter[Fate]:
    """A turn that ends while its session's row, or every connection, is held by somebody else."""
    run = RUNS[0]
    real, spool, sets = (
        PostgresRecords(engine=engine),
        LocalTurnSpool(most_turns=9, most_bytes=1 << 20),
        MemoryWorkingSets(),
    )
    records = SpooledRecords(records=real, spool=spool, working_sets=sets)
    book = TurnBook(records=records, histories=SessionHistories(records=records, working_sets=sets), spool=spool)
    holder = engine if held_by == "connection" else postgres_engine(url)
    async with holder.begin() as connection:
        await connection.execute(text("select * from sessions where id = :id for update"), {"id": run.id})
        booked = await book.add(run, History(), turn(1, of=run))
        assert (booked.session is not None, spool.count) == (True, 1)
    drain = DrainSpool(records=real, spool=spool)
    await drain()
    assert spool.count == 0
    await holder.dispose()
    await engine.dispose()
    return drain.drained


@pytest.mark.parametrize("held_by", ["lock", "connection"])
async def test_a_turn_waits_elsewhere_for_a_locked_row_and_for_a_free_connection(
    database_url: str, held_by: str
) -> None:
    await prepare(database_url)
    engine = postgres_engine(database_url, pool_size=1, pool_timeout_s=0.3, lock_timeout_s=0.3)
    assert await one_turn(database_url, engine, held_by=held_by) == {Fate.WRITTEN: 1}
