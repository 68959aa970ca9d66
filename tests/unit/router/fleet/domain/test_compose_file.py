from pathlib import Path
from typing import Any

import pytest
import yaml

from router.fleet.domain.compose_file import EVERYWHERE, ComposePlan, compose_text
from router.fleet.domain.compose_services import pool_services
from router.fleet.domain.demand import PoolName
from router.fleet.domain.vllm_flags import Flags

OURS = yaml.safe_load((Path(__file__).parents[5] / "docker-compose.yml").read_text())
FLAGS: Flags = {"max-model-len": 4096, "enable-prefix-caching": True, "shutdown-timeout": 60}


def plan(**more: Any) -> ComposePlan:
    told = {"model": "org/model", "weights": "/srv/models/m", "gpus": [["0"], ["1"], ["GPU-a1"]], "flags": FLAGS}
    return ComposePlan(**(told | more))


def written(**more: Any) -> dict[str, Any]:
    file: dict[str, Any] = yaml.safe_load(compose_text(plan(**more)))
    return file


def test_each_replica_has_a_gpu_a_port_and_a_cache_of_its_own() -> None:
    file = written()
    services = file["services"]
    assert list(services) == ["vllm-0", "vllm-1", "vllm-2"]
    devices = [one["deploy"]["resources"]["reservations"]["devices"][0] for one in services.values()]
    assert [device["device_ids"] for device in devices] == [["0"], ["1"], ["GPU-a1"]]
    assert [one["ports"] for one in services.values()] == [[f"127.0.0.1:{port}:8000"] for port in (8100, 8101, 8102)]
    caches = [one["volumes"][1].partition(":")[0] for one in services.values()]
    assert caches == list(file["volumes"])
    assert len(set(caches)) == 3
    assert {one["volumes"][0] for one in services.values()} == {"/srv/models/m:/models/current:ro"}


def test_the_host_finds_its_services_and_where_they_answer() -> None:
    for model in ("org/model", "a$b"):
        found = pool_services(written(model=model), label="drillyard.pool", pool=PoolName(model))
        assert found == {f"vllm-{n}": f"http://127.0.0.1:{8100 + n}" for n in range(3)}
    found = pool_services(written(network="drillyard_replicas"), label="drillyard.pool", pool=PoolName("org/model"))
    assert found == {f"vllm-{n}": f"http://vllm-{n}:8000" for n in range(3)}


def test_a_replica_is_told_what_the_projects_own_are() -> None:
    ours, theirs = OURS["services"]["vllm-0"], written()["services"]["vllm-0"]
    same = ("entrypoint", "environment", "healthcheck", "logging", "security_opt", "shm_size", "stop_grace_period")
    assert {key: theirs[key] for key in same} == {key: ours[key] for key in same}
    assert theirs["image"] in ours["image"]
    assert {"/models/current", "--host=0.0.0.0", "--port=8000", "--shutdown-timeout=60"} <= set(theirs["command"])
    assert theirs["command"][:1] == ours["command"][:1]
    assert theirs["restart"] == "no"
    assert set(theirs) - set(ours) == {"labels", "ports"}
    network = written(network="drillyard_replicas")["services"]["vllm-0"]
    assert set(network) - set(ours) == {"labels"}


def test_nobody_is_killed_before_the_engines_own_wait_is_over() -> None:
    assert written()["services"]["vllm-0"]["stop_grace_period"] == "75s"
    assert written(flags={})["services"]["vllm-0"]["stop_grace_period"] == "15s"


def test_flags_are_words_and_what_the_service_must_know_comes_last() -> None:
    told: Flags = {"spec-model": "/a b", "served-model-name": "other", "port": 1}
    command = written(flags=told)["services"]["vllm-0"]["command"]
    assert command == [
        "/models/current",
        "--spec-model=/a b",
        "--served-model-name=other",
        "--port=1",
        "--served-model-name=org/model",
        "--host=0.0.0.0",
        "--port=8000",
    ]


def test_a_replica_of_two_gpus_is_split_over_them() -> None:
    file = written(gpus=[["0", "1"], ["2", "3"]])
    one = file["services"]["vllm-1"]
    assert one["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"] == ["2", "3"]
    assert "--tensor-parallel-size=2" in one["command"]


def test_compose_takes_no_dollar_sign_for_a_variable() -> None:
    file = written(model="a$b", weights="/m/$x", network="n$", image="reg/$i:1")
    service = file["services"]["vllm-0"]
    assert service["image"] == "reg/$$i:1"
    assert service["volumes"][0] == "/m/$$x:/models/current:ro"
    assert "--served-model-name=a$$b" in service["command"]
    assert file["networks"]["replicas"] == {"external": True, "name": "n$$"}
    assert "ports" not in service


def test_replicas_that_listen_everywhere_are_reached_here() -> None:
    service = written(address=EVERYWHERE)["services"]["vllm-0"]
    assert service["ports"] == [f"{EVERYWHERE}:8100:8000"]
    assert service["labels"]["drillyard.url"] == "http://127.0.0.1:8100"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"model": ""}, "a model and a GPU"),
        ({"gpus": []}, "a model and a GPU"),
        ({"gpus": [["0"], []]}, "a model and a GPU"),
        ({"gpus": [["0 1"]]}, "no GPU's index"),
        ({"gpus": [["0"], [""]]}, "'' is no GPU's index"),
        ({"gpus": [["0"], ["0"]]}, "named twice"),
        ({"image": ""}, "have names"),
        ({"network": ""}, "have names"),
        ({"name": "My GPU"}, "no name for services"),
        ({"weights": "models"}, "a whole path"),
        ({"weights": "/a:b"}, "without a colon"),
        ({"model": "a\nservices: {}"}, "cannot be shown"),
        ({"weights": "/a\x1b"}, "cannot be shown"),
        ({"address": "everywhere"}, "everywhere"),
        ({"port": 65_534}, "3 ports from 65534 on"),
        ({"port": 0}, "3 ports from 0 on"),
    ],
)
def test_what_cannot_be_written_is_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        plan(**more)
