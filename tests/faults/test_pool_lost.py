"""Two models, each with its own replica, and the loss of one of them."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from gateway.domain.access import Role
from gateway.local.redis_server import RedisServer
from gateway.services import Services
from gateway.settings import ModelSettings, ReplicaSettings, Settings
from gateway.wiring.authoring import authoring
from gateway.wiring.services import services
from router.domain.fleet import ReplicaId
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.domain.turn import Turn, TurnState
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import PoolUnavailable
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.start_session import SessionOrder
from tests.support.engine_process import EngineProcess, scripted_engine
from tests.support.eventually import eventually
from tests.support.router_process import RouterProcess
from tests.support.session_fakes import content
from tests.support.tiny_model import tiny_model

TWO = ("a", "b")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def lasting_engines(model: Path) -> Iterator[dict[str, EngineProcess]]:
    words = ("--tokenizer", str(model), "--model")
    with scripted_engine(*words, "a") as a, scripted_engine(*words, "b") as b:
        yield {"a": a, "b": b}


@pytest.fixture
def engines(lasting_engines: dict[str, EngineProcess]) -> dict[str, EngineProcess]:
    """Both up, with nothing remembered."""
    for engine in lasting_engines.values():
        try:
            engine.reset()
        except httpx.TransportError:
            engine.start()
    return lasting_engines


@dataclass
class Installation:
    """A gateway for both models, with one tenant, one trainee and one scenario for each test."""

    running: Services
    engines: dict[str, EngineProcess]
    trainee: Viewer

    async def session(self, scenario: ScenarioId) -> SessionId:
        return (await self.running.use.start_session(SessionOrder(self.trainee, scenario, {}))).id

    async def scenario(self, **fields: object) -> ScenarioId:
        author = Viewer(self.trainee.tenant, self.trainee.account, sees_all=True)
        return (await self.running.use.create_scenario(author, content(**fields))).id

    async def play(self, session: SessionId, text: str) -> Turn:
        reader = await self.running.turns.take(TurnOrder(self.trainee, session, text))
        async for _ in reader.events():
            pass
        return await self.running.use.read_turn(self.trainee, session, reader.number)

    def sees(self, model: str) -> bool:
        """Whether the gateway knows a replica that serves it."""
        return next(pool.present for pool in self.running.tiers.pools() if pool.model == model) > 0

    async def kill(self, model: str) -> None:
        await asyncio.to_thread(self.engines[model].kill)

    async def start(self, model: str) -> None:
        await asyncio.to_thread(self.engines[model].start)


@asynccontextmanager
async def installation(settings: Settings, engines: dict[str, EngineProcess]) -> AsyncIterator[Installation]:
    async with authoring(settings) as tools:
        tenant = await tools.accounts.tenant(uuid4().hex, name="Acme", at=tools.clock.now())
        account = await tools.accounts.account(tenant, "trainee", Role.TRAINEE, at=tools.clock.now())
    async with services(settings, stopping=asyncio.Event()) as running:
        yield Installation(running, engines, Viewer(TenantId(tenant), AccountId(account.id), sees_all=False))


def settings_of(model: Path, database_url: str, redis: RedisServer, **fields: object) -> Settings:
    return Settings.model_validate(
        {
            "redis_url": redis.url,
            "database_url": database_url,
            "model": ModelSettings(name="a", folder=model),
            "models": (ModelSettings(name="b", folder=model),),
            "router": {"probe_interval_s": 0.1},
            **fields,
        }
    )


@pytest.fixture
async def here(
    model: Path, database_url: str, empty_redis: RedisServer, engines: dict[str, EngineProcess]
) -> AsyncIterator[Installation]:
    """The gateway routes by itself."""
    replicas = tuple(ReplicaSettings(id=f"of-{name}", url=engine.url) for name, engine in engines.items())
    async with installation(settings_of(model, database_url, empty_redis, replicas=replicas), engines) as made:
        yield made


async def test_a_role_play_falls_back_at_once_when_its_pool_is_lost_and_returns_between_two_turns(
    here: Installation,
) -> None:
    on_b, on_a = await here.scenario(tiers=((Tier.ROLE_PLAY, "b"),)), await here.scenario()
    session, other = await here.session(on_b), await here.session(on_a)
    first = await here.play(session, "turn 1")
    assert (first.replica, first.model, first.tier, first.fell_back) == ("of-b", "b", Tier.ROLE_PLAY, False)
    assert [(turn.model, turn.replica) for turn in [await here.play(other, "turn 1")]] == [("a", "of-a")]
    assert (await here.play(session, "turn 2")).model == "b"
    await here.kill("b")
    lost = await here.play(session, "turn 3")
    assert (lost.state, lost.replica, lost.model, lost.fell_back) == (TurnState.COMPLETED, "of-a", "a", True)
    assert not here.sees("b")
    readiness = await here.running.readiness()
    assert (readiness.ready, readiness.checks["models"].ok) == (True, False)
    assert (await here.play(session, "turn 4")).fell_back
    await here.start("b")
    await eventually(lambda: here.sees("b"))
    back = await here.play(session, "turn 5")
    assert (back.replica, back.model, back.fell_back) == ("of-b", "b", False)
    exposed = (await here.running.metrics.text()).decode()
    assert 'drillyard_tier_turns_total{model="b",tier="role_play"} 3.0' in exposed
    assert 'drillyard_tier_fallbacks_total{model="a",tier="role_play"} 2.0' in exposed
    # The history came along.
    said = [message["content"] for message in here.engines["b"].requests()[-1]["messages"]]
    assert [each for each in said if each.startswith("turn ")] == [f"turn {number}" for number in range(1, 6)]


async def test_pins_of_two_models_never_cross(here: Installation) -> None:
    """Both models serve the same sessions in turn, as the tenant's operators change their minds."""
    sessions = [await here.session(await here.scenario()) for _ in range(3)]
    for number in range(1, 7):
        model = TWO[number % 2]
        await here.running.tiers.change(here.trainee.tenant, {Tier.ROLE_PLAY: model})
        for session in sessions:
            turn = await here.play(session, f"turn {number}")
            assert (turn.model, turn.replica, turn.fell_back) == (model, f"of-{model}", False)
    for model, engine in here.engines.items():
        asked = [json.loads(request["body"]) for request in engine.requests()]
        assert len([request for request in asked if request["max_tokens"] > 1]) == 9
        assert {request["model"] for request in asked} == {model}


async def test_sensitive_work_is_refused_and_sent_nowhere_while_its_pool_is_away(here: Installation) -> None:
    secret = await here.scenario(is_sensitive=True, tiers=((Tier.SENSITIVE, "b"), (Tier.ROLE_PLAY, "a")))
    session = await here.session(secret)
    assert (await here.play(session, "a secret")).model == "b"
    await here.kill("b")
    for _ in range(2):
        with pytest.raises(PoolUnavailable) as caught:
            await here.play(session, "another secret")
        assert (caught.value.model, caught.value.tier) == ("b", "sensitive")
    assert "secret" not in str(here.engines["a"].requests())
    await here.start("b")
    await eventually(lambda: here.sees("b"))
    turn = await here.play(session, "another secret")
    assert (turn.number, turn.model, turn.tier) == (2, "b", Tier.SENSITIVE)


async def test_a_pool_that_is_drained_gives_its_sessions_to_the_stand_in_and_keeps_sensitive_ones(
    here: Installation,
) -> None:
    wanted = ((Tier.SENSITIVE, "b"), (Tier.ROLE_PLAY, "b"))
    plain = await here.session(await here.scenario(tiers=wanted))
    secret = await here.session(await here.scenario(tiers=wanted, is_sensitive=True))
    late = await here.session(await here.scenario(tiers=wanted, is_sensitive=True))
    assert [(await here.play(each, "turn 1")).model for each in (plain, secret)] == ["b", "b"]
    await here.running.fleet.drain(ReplicaId("of-b"), within_s=60)
    await eventually(lambda: not here.sees("b"))
    assert [(await here.play(each, "turn 2")).model for each in (plain, secret)] == ["a", "b"]
    with pytest.raises(PoolUnavailable):
        await here.play(late, "turn 1")
    await here.running.fleet.undo_drain(ReplicaId("of-b"))
    await eventually(lambda: here.sees("b"))
    assert [(await here.play(each, "turn 3")).model for each in (plain, secret, late)] == ["b", "b", "b"]


async def test_a_router_elsewhere_keeps_the_pools_apart_and_falls_back_alike(
    model: Path,
    database_url: str,
    empty_redis: RedisServer,
    engines: dict[str, EngineProcess],
    tmp_path: Path,
) -> None:
    keys = tmp_path / "keys"
    keys.write_text("operator-key")
    words = [word for name, engine in engines.items() for word in ("--replica", f"of-{name}={engine.url}")]
    with RouterProcess(*words, "--operator-key-file", str(keys), log=tmp_path / "log") as router:
        chosen = settings_of(model, database_url, empty_redis, router_url=router.url, router_key="operator-key")
        async with installation(chosen, engines) as remote:
            session = await remote.session(await remote.scenario(tiers=((Tier.ROLE_PLAY, "b"),)))
            assert (await remote.play(session, "turn 1")).replica == "of-b"
            await remote.kill("b")
            lost = await remote.play(session, "turn 2")
            assert (lost.replica, lost.model, lost.fell_back) == ("of-a", "a", True)
