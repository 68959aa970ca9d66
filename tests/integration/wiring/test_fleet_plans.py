"""The plan over real HTTP, out of a real Postgres, of a gateway whose router is another process and away."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from pydantic import AnyHttpUrl
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.domain.access import Role, new_key
from gateway.local.redis_server import RedisServer
from gateway.settings import ModelSettings, Settings
from gateway.wiring.authoring import authoring
from gateway.wiring.services import services
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import Round
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, WarmReport
from router.fleet.settings import FleetSettings, PoolSettings
from sessions.domain.viewer import AccountId, TenantId, Viewer
from tests.integration.api.house import served
from tests.support.fleet_ledger import leading_ledger
from tests.support.session_fakes import content
from tests.support.tiny_model import tiny_model

MODEL = "org/tutor"
POOL = PoolName(MODEL)
SCALE = f"/v1/fleet/pools/{MODEL}/scale"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@asynccontextmanager
async def clients(settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient, str]]:
    """An operator and an instructor of one tenant, and a scenario of theirs."""
    async with authoring(settings) as tools:
        now = tools.clock.now()
        tenant = await tools.accounts.tenant("acme", name="Acme", at=now)
        people = [await tools.accounts.account(tenant, role, role, at=now) for role in (Role.OPERATOR, Role.INSTRUCTOR)]
        keys = [new_key(person.principal, dice=secrets.token_bytes) for person in people]
        for key in keys:
            await tools.keys.add(key.stored, at=now)
        author = Viewer(TenantId(tenant), AccountId(people[-1].id), sees_all=True)
        scenario = await tools.create_scenario(author, content())
    async with served(lambda: services(settings, stopping=asyncio.Event())) as base_url:
        operator, instructor = (
            httpx.AsyncClient(base_url=base_url, headers={"Authorization": f"Bearer {key.written}"}, trust_env=False)
            for key in keys
        )
        async with operator, instructor:
            yield operator, instructor, str(scenario.id)


async def test_the_plan_comes_out_of_postgres_alone(
    database_url: str, database_engine: AsyncEngine, running_redis: RedisServer, model: Path
) -> None:
    settings = Settings(
        redis_url=running_redis.url,
        database_url=database_url,
        model=ModelSettings(name=MODEL, folder=model),
        router_url=AnyHttpUrl("http://127.0.0.1:9"),
        fleet=FleetSettings(pools=(PoolSettings(model=MODEL, seats_per_replica=10, maximum=4),)),
    )
    now = datetime.now(UTC)
    bell = now + timedelta(hours=2)
    async with clients(settings) as (operator, instructor, scenario):
        drill = {
            "name": "Thursday",
            "scenario_id": scenario,
            "starts_at": bell.isoformat(),
            "ends_at": (bell + timedelta(hours=1)).isoformat(),
            "expected_trainees": 25,
        }
        assert (await instructor.post("/v1/drills", json=drill)).status_code == 201
        await write_book(database_engine, database_url, now.timestamp())
        scaled = await operator.post(SCALE, json={"replicas": 2, "reason": "a rehearsal"})
        assert scaled.status_code == 200, scaled.text
        found = (await operator.get("/v1/fleet/plan?hours=4")).json()
        pool = found["pools"][0]
        assert (found["leader"], found["is_looked_after"], pool["last_round"]["wanted"]) == ("control-1", True, None)
        assert [step["wanted"] for step in pool["steps"]] == [0, 2, 3, 3, 2]
        assert (pool["next_bell"]["needs"], pool["next_bell"]["ready"]) == (3, 1)
        assert [each["name"] for each in pool["classes"]] == ["Thursday"]
        assert (pool["lead"]["starts"], pool["floor"]["reason"]) == (1, "a rehearsal")
        assert (pool["replicas"][0]["state"], pool["replicas"][0]["warm_report"]["prefixes"]) == ("ready", 2)
        assert (await operator.delete(SCALE)).json()["floor"] is None
        assert (await operator.get("/v1/fleet/plan")).json()["pools"][0]["floor"] is None
        assert (await operator.get("/v1/fleet")).status_code == 503


async def write_book(engine: AsyncEngine, database_url: str, now: float) -> None:
    """As a controller does that leads."""
    async with leading_ledger(engine, database_url) as ledger:
        report = WarmReport("9f2c", first_token_cold_ms=80.5, first_token_warm_ms=9.0, prefixes=2, took_s=4.0)
        reached = {Milestone.REQUESTED: now - 90, Milestone.JOINED: now - 30}
        await ledger.save(ReplicaRecord(ReplicaId("r-1"), POOL, reached, "http://127.0.0.1:1", report=report))
        await ledger.tell(POOL, PastStart(now - 90, now - 30, went_warm=True))
        await ledger.show(Round(POOL, at=now, leader="control-1", wanted=None, ready=1, present=1))
