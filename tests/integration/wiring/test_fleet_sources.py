"""Which source of replicas the settings name."""

import json
from pathlib import Path

import pytest

from gateway.router_settings import load
from gateway.wiring.fleet_sources import fleet_source
from router.domain.fleet import ReplicaSpec
from router.errors import FleetSourceUnavailable


async def read(given: dict[str, object]) -> dict[str, ReplicaSpec]:
    async with fleet_source(load(given)) as source:
        return {spec.id: spec for spec in await source.replicas()}


async def test_replicas_of_the_settings() -> None:
    found = await read(
        {"replicas": [{"id": "a", "url": "http://a:1", "models": ["m"]}, {"id": "b", "url": "http://b"}]}
    )
    assert (found["a"].url, found["a"].models) == ("http://a:1/", frozenset({"m"}))
    assert found["b"].models == frozenset()
    assert await read({}) == {}


async def test_replicas_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps([{"id": "a", "url": "http://a:1"}]))
    assert set(await read({"fleet_file": str(file)})) == {"a"}
    with pytest.raises(FleetSourceUnavailable, match="cannot be read"):
        await read({"fleet_file": str(tmp_path / "none")})


async def test_endpoints_of_a_service_whose_cluster_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
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
    monkeypatch.setenv("KUBECONFIG", str(config))
    for port in ("8000", "http"):
        with pytest.raises(FleetSourceUnavailable):
            await read({"kubernetes_service": "vllm", "kubernetes_port": port})


async def test_a_cluster_that_nobody_names_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(FleetSourceUnavailable):
        await read({"kubernetes_service": "vllm"})
