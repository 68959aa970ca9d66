"""A gateway with a router of its own, and one that uses a router elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.local.redis_server import RedisServer
from gateway.settings import ModelSettings, ReplicaSettings, Settings
from gateway.wiring.redis import shared_redis
from gateway.wiring.turn_routing import TurnRouting, turn_routing
from router.domain.asks import Asks
from router.domain.exchange import ChatRequest, Finished, Message
from router.domain.fleet import AffinityKey
from sessions.adapters.tokenizer import ModelTokenizer
from tests.support.engine_process import EngineProcess, scripted_engine
from tests.support.router_process import RouterProcess
from tests.support.tiny_model import tiny_model

REQUEST = ChatRequest("smollm2", (Message("user", "Good morning."),), 20, 0.0, "salt", "s-1")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def engine(model: Path) -> Iterator[EngineProcess]:
    with scripted_engine("--tokenizer", str(model)) as running:
        yield running


def settings(model: Path, redis_url: str, **fields: object) -> Settings:
    needed = {
        "redis_url": redis_url,
        "database_url": "postgresql://nobody@127.0.0.1/nowhere",
        "model": ModelSettings(name="smollm2", folder=model),
    }
    return Settings.model_validate({**needed, **fields})


async def play(routed: TurnRouting) -> tuple[str, bool]:
    async with routed.router.turn(AffinityKey("s"), REQUEST, asks=Asks()) as reply:
        items = [item async for item in reply]
    return reply.replica, isinstance(items[-1], Finished)


@pytest.mark.usefixtures("redis_client")  # an empty one
async def test_a_gateway_routes_by_itself(model: Path, engine: EngineProcess, running_redis: RedisServer) -> None:
    chosen = settings(model, running_redis.url, replicas=(ReplicaSettings(id="a", url=engine.url),))
    counters = {"smollm2": ModelTokenizer(folder=model)}
    async with (
        shared_redis(running_redis.url) as redis,
        turn_routing(chosen, redis=redis, counters=counters, tracing=None) as routed,
    ):
        assert await play(routed) == ("a", True)
        assert [state.id for state in await routed.desk.replicas()] == ["a"]
        assert await routed.desk.decision("s-1") is not None
        assert routed.counting is not None
        routed.stop()


async def test_a_gateway_uses_a_router_elsewhere(
    model: Path, engine: EngineProcess, running_redis: RedisServer, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text("operator-key")
    words = ("--replica", f"a={engine.url}", "--operator-key-file", str(keys), "--api-key-file", str(keys))
    counters = {"smollm2": ModelTokenizer(folder=model)}
    with RouterProcess(*words, log=tmp_path / "log") as router:
        chosen = settings(model, running_redis.url, router_url=router.url, router_key="operator-key")
        async with (
            shared_redis(running_redis.url) as redis,
            turn_routing(chosen, redis=redis, counters=counters, tracing=None) as routed,
        ):
            assert [replica.id for replica in routed.router.fleet().ready] == ["a"]
            assert await play(routed) == ("a", True)
            assert [state.id for state in await routed.desk.replicas()] == ["a"]
            assert await routed.desk.decision("s-1") is not None
            assert routed.counting is None
            routed.stop()
