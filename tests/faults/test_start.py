"""A gateway that is started before what it needs: it says what it waits for, and comes up by itself."""

import json
import time
from pathlib import Path

import httpx

from gateway.local.free_port import free_port
from gateway.local.postgres_server import postgres_server
from gateway.local.redis_server import redis_server
from sessions.migrations import upgrade
from tests.support.engine_process import scripted_engine
from tests.support.gateway_process import GatewayProcess
from tests.support.long_talk import wait_until
from tests.support.tiny_model import tiny_model

COMES_UP_S = 20.0


def environment(folder: Path, *, redis: int, postgres: str, engine: str) -> dict[str, str]:
    return {
        "DRILLYARD_REDIS_URL": f"redis://127.0.0.1:{redis}",
        "DRILLYARD_DATABASE_URL": postgres,
        "DRILLYARD_MODEL__NAME": "smollm2",
        "DRILLYARD_MODEL__FOLDER": str(tiny_model(folder / "model")),
        "DRILLYARD_REPLICAS": json.dumps([{"id": "a", "url": engine}]),
        "DRILLYARD_ROUTER__PROBE_INTERVAL_S": "0.2",
    }


def checks(client: httpx.Client) -> dict[str, str]:
    return {name: check["detail"] for name, check in client.get("/readyz").json()["checks"].items() if not check["ok"]}


def lives(client: httpx.Client) -> bool:
    try:
        return client.get("/livez").status_code == 200
    except httpx.TransportError:
        return False


def logged(gateway: GatewayProcess, event: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in gateway.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


def test_it_lives_from_the_start_and_takes_each_of_its_stores_as_it_comes(tmp_path: Path) -> None:
    cluster, redis_port = tmp_path / "postgres", free_port()
    with postgres_server(cluster, fsync=False, keep=True) as first:
        url = first.url
    port = int(url.rpartition(":")[2].partition("/")[0])
    model = tiny_model(tmp_path / "engine-model")
    with scripted_engine("--tokenizer", str(model)) as engine:
        settings = environment(tmp_path, redis=redis_port, postgres=url, engine=engine.url)
        gateway = GatewayProcess(environment=settings, log=tmp_path / "gateway.log")
        gateway.launch()
        try:
            with httpx.Client(base_url=gateway.url, trust_env=False, timeout=30) as client:
                began = time.monotonic()
                wait_until(lambda: lives(client))
                assert time.monotonic() - began < COMES_UP_S
                assert client.get("/readyz").status_code == 503
                assert {"postgres", "redis"} <= set(checks(client))
                with (
                    redis_server(tmp_path / "redis", port=redis_port),
                    postgres_server(cluster, fsync=False, port=port, keep=True),
                ):
                    wait_until(lambda: "drillyard db migrate" in checks(client).get("postgres", ""))
                    assert client.get("/readyz").status_code == 503
                    upgrade(url)
                    wait_until(lambda: client.get("/readyz").status_code == 200)
                    wait_until(lambda: not checks(client))
            waits = logged(gateway, "waiting")
            assert waits
            assert "postgres" in str(waits[0]["missing"])
            wait_until(lambda: len(logged(gateway, "ready")) == 1)
        finally:
            gateway.kill()
