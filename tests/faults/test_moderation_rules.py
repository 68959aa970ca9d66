"""Postgres hangs, is killed and comes back: what is known to be in force stays so, and nothing goes on unchecked."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from gateway.local.free_port import free_port
from gateway.local.postgres_server import postgres_server
from gateway.moderation_ports import ListId
from gateway.wiring.background import background
from gateway.wiring.moderation import Moderating
from sessions.adapters.postgres.engine import postgres_engine
from sessions.domain.moderation import BlockReason
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId
from sessions.errors import ModerationUnavailable, RecordsUnavailable
from sessions.migrations import upgrade
from tests.support.frozen import frozen
from tests.support.moderating_house import moderating_process
from tests.support.moderation_stores import INSTRUCTOR, SCENARIO, kept_list, people_and_scenarios, says
from tests.support.records_world import ELSEWHERE, HERE

pytestmark = pytest.mark.postgres

WITHIN_S = 8.0


async def furnish(url: str) -> None:
    engine = postgres_engine(url)
    await people_and_scenarios(engine)
    await engine.dispose()


async def blocks(process: Moderating, text: str, *, scenario: ScenarioId | None = None) -> bool:
    rules = await process.desk.rules(TenantId(HERE.tenant), scenario)
    return (await rules.message(text)).blocked is BlockReason.BANNED_PHRASE


async def until_blocked(process: Moderating, text: str) -> None:
    deadline = time.monotonic() + WITHIN_S
    while True:
        try:
            if await blocks(process, text):
                return
        except ModerationUnavailable:
            pass
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def until_live(process: Moderating, found: ListId, version: int) -> None:
    deadline = time.monotonic() + WITHIN_S
    while True:
        try:
            await process.stores.lists.go_live(HERE.tenant, found, version, INSTRUCTOR)
        except RecordsUnavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        else:
            return


async def test_rules_in_memory_stay_in_force_while_postgres_hangs_and_what_is_not_known_stops_turns(
    tmp_path: Path,
) -> None:
    with postgres_server(tmp_path, fsync=False) as server:
        upgrade(server.url)
        await furnish(server.url)
        async with moderating_process(server.url, wait_s=3.0) as process:
            kept = await process.stores.lists.add(kept_list(live=True), says("old"))
            await process.stores.lists.add(kept_list("scenario", live=True, of_scenario=SCENARIO), says("here"))
            assert await blocks(process, "old")
            with frozen(server.pid):
                began = time.monotonic()
                for _ in range(100):
                    assert await blocks(process, "old")
                    assert not await blocks(process, "fine")
                    await process.desk.rules(TenantId(ELSEWHERE.tenant))
                assert time.monotonic() - began < 1
                with pytest.raises(ModerationUnavailable):
                    await blocks(process, "old", scenario=ScenarioId(SCENARIO))  # never asked for, so not in memory
                with pytest.raises(RecordsUnavailable):
                    await process.stores.lists.go_live(HERE.tenant, kept.id, None, INSTRUCTOR)
                with pytest.raises(ModerationUnavailable):  # nobody knows what came of it
                    await blocks(process, "old")
                await process.desk.rules(TenantId(ELSEWHERE.tenant))
                assert time.monotonic() - began < 3 * WITHIN_S
            await until_blocked(process, "old")
            assert await blocks(process, "here", scenario=ScenarioId(SCENARIO))
            assert process.keeper.counters()["moderation_refresh_failures"] > 0


async def test_a_killed_postgres_takes_no_rule_with_it(tmp_path: Path) -> None:
    port = free_port()
    with postgres_server(tmp_path, port=port, fsync=False, keep=True) as server:
        upgrade(server.url)
        await furnish(server.url)
        async with moderating_process(server.url) as process:
            kept = await process.stores.lists.add(kept_list(live=True), says("old"))
            await process.stores.lists.add_version(HERE.tenant, kept.id, says("new"), INSTRUCTOR)
            assert await blocks(process, "old")
            os.kill(server.pid, signal.SIGQUIT)
            deadline = time.monotonic() + WITHIN_S
            while not process.keeper.counters()["moderation_refresh_failures"]:
                assert await blocks(process, "old")
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
            with postgres_server(tmp_path, port=port, fsync=False, keep=True):
                await until_live(process, kept.id, 2)
                await until_blocked(process, "new")
                assert not await blocks(process, "old")


async def test_twenty_thousand_phrases_are_made_ready_beside_everything_else(database_url: str) -> None:
    """A quiet machine measures 5 ms at the most; here it is enough that nobody waits for the whole of it."""
    await furnish(database_url)
    many = says(*(f"banned phrase {number:05}" for number in range(20_000)))
    async with moderating_process(database_url) as process:
        kept = await process.stores.lists.add(kept_list(), many)
        waits: list[float] = []
        async with background(_watch(waits)):
            began = time.monotonic()
            await process.stores.lists.go_live(HERE.tenant, kept.id, 1, INSTRUCTOR)
            assert await blocks(process, "a BANNED phrase 19999!")
            took = time.monotonic() - began
        assert max(waits) < took / 2
        assert len(waits) > 10


async def _watch(waits: list[float]) -> None:
    """How much later than it wished somebody goes on who waits for a moment."""
    while True:
        began = time.monotonic()
        await asyncio.sleep(0.001)
        waits.append(time.monotonic() - began - 0.001)
