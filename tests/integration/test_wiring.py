"""The whole process put together, on real Redis, real Postgres and an engine over HTTP."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import AnyHttpUrl

from gateway.access_settings import AccessSettings, IssuerSettings
from gateway.domain.access import Role
from gateway.errors import FleetUnfit
from gateway.local.redis_server import RedisServer
from gateway.settings import ModelSettings, ReplicaSettings, Settings
from gateway.wiring.authoring import administration, authoring
from gateway.wiring.services import services
from sessions.domain.events import Done
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.start_session import SessionOrder
from tests.support.engine_process import EngineProcess, scripted_engine
from tests.support.identity_provider import AUDIENCE, identity_provider
from tests.support.otlp_collector import collector
from tests.support.session_fakes import content
from tests.support.tiny_model import tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def honest_engine(model: Path) -> Iterator[EngineProcess]:
    with scripted_engine("--tokenizer", str(model)) as engine:
        yield engine


def settings(
    database_url: str, redis_url: str, model: Path, *engines: EngineProcess, name: str = "smollm2"
) -> Settings:
    replicas = [ReplicaSettings(id=f"replica-{n}", url=engine.url) for n, engine in enumerate(engines, start=1)]
    return Settings(
        redis_url=redis_url,
        database_url=database_url,
        model=ModelSettings(name=name, folder=model),
        replicas=tuple(replicas),
    )


async def test_a_turn_goes_all_the_way_and_is_on_record(
    database_url: str, running_redis: RedisServer, model: Path, honest_engine: EngineProcess
) -> None:
    chosen = settings(database_url, running_redis.url, model, honest_engine)
    async with authoring(chosen) as tools:
        tenant = await tools.accounts.tenant("acme", name="Acme", at=tools.clock.now())
        account = await tools.accounts.account(tenant, "trainee", Role.TRAINEE, at=tools.clock.now())
        author = Viewer(TenantId(tenant), AccountId(account.id), sees_all=True)
        scenario = await tools.create_scenario(author, content())
    trainee = Viewer(TenantId(tenant), AccountId(account.id), sees_all=False)
    async with services(chosen, stopping=asyncio.Event()) as running:
        assert (await running.readiness()).ready
        session = await running.use.start_session(SessionOrder(trainee, scenario.id, {}))
        reader = await running.turns.take(TurnOrder(trainee, session.id, "Good morning."))
        events = [event async for _, event in reader.events()]
        assert isinstance(events[-1], Done)
        stored = await running.use.read_turn(trainee, session.id, 1)
        assert events[-1].turn == stored
        assert stored.usage.prompt_tokens > 0
        exposed = await running.metrics.text()
        assert b'drillyard_turns_total{state="completed"} 1.0' in exposed
        assert b"drillyard_turn_lock_failures_total 0.0" in exposed
        assert b'drillyard_moderation_texts_total{kind="message",verdict="allow"} 1.0' in exposed
        assert b'drillyard_moderation_texts_total{kind="reply",verdict="allow"} 1.0' in exposed
        assert b"drillyard_moderation_refresh_failures_total 0.0" in exposed
        assert b"drillyard_moderation_rules_age_seconds " in exposed
        assert b"drillyard_spans" not in exposed


async def test_people_sign_in_by_the_tokens_of_an_issuer(
    database_url: str, running_redis: RedisServer, model: Path, honest_engine: EngineProcess
) -> None:
    async with identity_provider() as provider:
        issuer = IssuerSettings(issuer=provider.issuer, audience=AUDIENCE)
        access = AccessSettings(issuers=(issuer,), create_tenants=True)
        chosen = settings(database_url, running_redis.url, model, honest_engine)
        async with services(chosen.model_copy(update={"access": access}), stopping=asyncio.Event()) as running:
            caller = await running.access.tokens.principal(provider.token())
            assert await running.access.accounts.tenant_id("acme") == caller.tenant
            assert (await running.readiness()).checks["sign_in"].ok
            exposed = await running.metrics.text()
            assert b"drillyard_issuer_keys_fetches_total 1.0" in exposed
            assert b"drillyard_issuer_keys_age_seconds" in exposed


async def test_replicas_that_serve_another_model_refuse_the_start(
    database_url: str, running_redis: RedisServer, model: Path, honest_engine: EngineProcess
) -> None:
    chosen = settings(database_url, running_redis.url, model, honest_engine, name="another")
    with pytest.raises(FleetUnfit, match="serves smollm2 instead of another"):
        async with services(chosen, stopping=asyncio.Event()):
            pass


async def test_where_turns_are_traced_the_metrics_tell_what_became_of_spans(
    database_url: str, running_redis: RedisServer, model: Path
) -> None:
    with collector() as taken:
        chosen = settings(database_url, running_redis.url, model)
        traced = chosen.model_copy(update={"otlp_endpoint": AnyHttpUrl(taken.url)})
        async with services(traced, stopping=asyncio.Event()) as running:
            exposed = await running.metrics.text()
    for name in ("sent", "lost", "dropped"):
        assert f"drillyard_spans_{name}_total 0.0".encode() in exposed


async def test_stopping_takes_nothing_new(database_url: str, running_redis: RedisServer, model: Path) -> None:
    stopping = asyncio.Event()
    async with services(settings(database_url, running_redis.url, model), stopping=stopping) as running:
        stopping.set()
        readiness = await running.readiness()
        assert not readiness.ready
        assert "shutting down" in readiness.checks["process"].detail


async def test_administration_needs_the_database_alone(database_url: str) -> None:
    async with administration(database_url) as admin:
        assert await admin.accounts.tenant_id("nobody") is None
        tenant = await admin.accounts.tenant("acme", name="Acme", at=admin.clock.now())
        assert await admin.accounts.tenant_id("acme") == tenant != uuid4()
