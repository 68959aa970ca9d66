"""Which host a pool's settings name."""

import json
import sys
from pathlib import Path

import pytest

from gateway.errors import FleetUnfit
from gateway.wiring.fleet_hosts import hosted_pools
from router.domain.fleet import ReplicaId
from router.fleet.adapters.dry_run import Said
from router.fleet.domain.hosted import HostPhase
from router.fleet.errors import HostUnavailable
from router.fleet.keeping import Pool
from router.fleet.settings import PoolSettings
from tests.support.eventually import eventually
from tests.support.weights_server import listed

A = ReplicaId("a")


def pool(model: str = "m", **changes: object) -> PoolSettings:
    return PoolSettings.model_validate({"model": model, "seats_per_replica": 4, "maximum": 2, **changes})


def processes(folder: Path, *command: str) -> dict[str, object]:
    return {"kind": "processes", "command": command, "slots": ["0"], "folder": str(folder), "grace_s": 1}


def kubernetes(folder: Path) -> dict[str, object]:
    config = folder / "config"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "drills"}}],
                "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
                "users": [{"name": "u", "user": {}}],
            }
        )
    )
    return {"kind": "kubernetes", "deployment": "vllm", "kubeconfig": str(config)}


async def test_each_kind_has_its_host_and_a_pool_without_one_is_left_out(tmp_path: Path) -> None:
    settings = [
        pool("p", host=processes(tmp_path, "sleep", "60")),
        pool("none"),
        pool("c", host={"kind": "compose", "file": str(tmp_path / "fleet.yml"), "program": ["no-such-program"]}),
        pool("k", host=kubernetes(tmp_path)),
    ]
    async with hosted_pools(settings, Said()) as pools:
        assert [each.name for each in pools] == ["p", "c", "k"]
        assert [each.host.names_replicas for each in pools] == [False, True, True]
        assert pools[0].rules == settings[0].rules
        assert await pools[0].host.list() == []
        for away in pools[1:]:
            with pytest.raises(HostUnavailable):
                await away.host.list()


async def test_a_pool_on_a_dry_run_starts_nothing(tmp_path: Path) -> None:
    said = Said()
    dry = pool(host=processes(tmp_path, "sleep", "60"), dry_run=True)
    async with hosted_pools([dry], said) as [found]:
        await found.host.start(A, among=1)
    assert list(said.kept) == ["would start a"]
    async with hosted_pools([pool(host=processes(tmp_path, "sleep", "60"))], said) as [found]:
        assert await found.host.list() == []


async def test_weights_are_there_before_a_replica_starts(tmp_path: Path) -> None:
    files = {"model.bin": b"weights" * 1000}
    source, folder = tmp_path / "source", tmp_path / "weights"
    source.mkdir()
    for name, content in {**files, "SHA256SUMS": listed(files).text.encode()}.items():
        (source / name).write_bytes(content)
    wanted = {"source": source.as_uri(), "digest": listed(files).digest, "folder": str(folder)}
    print_size = "import os, sys, time; print(os.path.getsize(sys.argv[1]), flush=True); time.sleep(60)"
    host = processes(tmp_path / "replicas", sys.executable, "-c", print_size, "{weights}/model.bin")
    async with hosted_pools([pool(host=host, weights=wanted)], Said()) as [found]:
        await found.host.start(A, among=1)
        await until_printed(found, tmp_path / "replicas", "7000")
        await found.host.stop(A, among=0)
        while await found.host.list():
            pass


async def until_printed(found: Pool, folder: Path, words: str) -> None:
    def printed() -> bool:
        return any(words in log.read_text() for log in folder.rglob("*") if log.is_file())

    while [replica.phase for replica in await found.host.list()] != [HostPhase.RUNNING]:
        pass
    await eventually(printed, within_s=20)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"source": "hub:owner/name@main"}, "where the hub is"),
        ({"source": "hub:nonsense"}, "hub:owner/name@revision"),
    ],
)
async def test_weights_of_no_source_are_refused_at_once(tmp_path: Path, changes: dict[str, str], told: str) -> None:
    weights = {"digest": f"sha256:{'0' * 64}", "folder": str(tmp_path), **changes}
    with pytest.raises(FleetUnfit, match=told):
        async with hosted_pools([pool(host=processes(tmp_path, "sleep"), weights=weights)], Said()):
            pass


async def test_a_cluster_without_a_configuration_is_refused(tmp_path: Path) -> None:
    host = {"kind": "kubernetes", "deployment": "vllm", "kubeconfig": str(tmp_path / "none")}
    with pytest.raises(FleetUnfit, match="Kubernetes"):
        async with hosted_pools([pool(host=host)], Said()):
            pass
