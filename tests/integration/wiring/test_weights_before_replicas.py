"""A pool's weights are there before its replicas start, which are told where."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from gateway.errors import FleetUnfit
from gateway.wiring.fleet_hosts import hosted_pools
from router.domain.fleet import ReplicaId
from router.fleet.adapters.dry_run import Said
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.ports import ReplicaHost
from router.fleet.settings import PoolSettings
from tests.support.weights_server import WeightsServer, listed, weights_server

FILES = {"config.json": b"{}", "model.safetensors": b"weights " * 2**18}
ONE = ReplicaId("one")
# It runs only where its weights are.
READS = "import sys, time, pathlib\npathlib.Path(sys.argv[1], 'model.safetensors').read_bytes()\ntime.sleep(600)"


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with weights_server(FILES) as served:
        yield served


def pool(server: WeightsServer, folder: Path, **fields: object) -> PoolSettings:
    host = {
        "kind": "processes",
        "command": [sys.executable, "-S", "-c", READS, "{weights}"],
        "slots": ["0"],
        "folder": str(folder / "replicas"),
        "grace_s": 0,
    }
    weights = {"source": server.url, "digest": listed(FILES).digest, "folder": str(folder / "models"), **fields}
    facts = {"model": "m", "seats_per_replica": 8, "maximum": 1, "host": host, "weights": weights}
    return PoolSettings.model_validate(facts)


async def until(holds: Callable[[Sequence[HostedReplica]], bool], host: ReplicaHost) -> Sequence[HostedReplica]:
    deadline = time.monotonic() + 20
    while not holds(found := await host.list()):
        assert time.monotonic() < deadline, found
        await asyncio.sleep(0.02)
    return found


async def test_a_replica_starts_with_the_weights_that_it_waited_for(server: WeightsServer, tmp_path: Path) -> None:
    server.held.clear()
    async with hosted_pools([pool(server, tmp_path)], Said()) as (only,):
        await only.host.start(ONE, among=1)
        (waits,) = await until(lambda all_: "MiB" in all_[0].detail, only.host)
        assert waits.phase is HostPhase.FETCHING
        server.held.set()
        await until(lambda all_: all_[0].phase is HostPhase.RUNNING, only.host)
        assert (tmp_path / "models" / "model.safetensors").read_bytes() == FILES["model.safetensors"]
        await only.host.stop(ONE, among=0)
        await until(lambda all_: not all_, only.host)


async def test_a_source_that_is_none_is_said_at_the_start(server: WeightsServer, tmp_path: Path) -> None:
    with pytest.raises(FleetUnfit, match="it is not said where the hub is"):
        async with hosted_pools([pool(server, tmp_path, source="hub:owner/name@main")], Said()):
            pass
