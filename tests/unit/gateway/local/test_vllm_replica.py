from pathlib import Path

import pytest

from gateway.local.bundled_model import Model
from gateway.local.vllm_replica import (
    OnCore,
    OnGpu,
    Place,
    ReplicaPlan,
    Serving,
    replica_argv,
    replica_environment,
    replica_service,
    spread,
)


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    return Serving(
        environment=Path("/env"),
        model=Model(folder=Path("/models/small"), name="small"),
        window_tokens=4096,
        home=tmp_path / "home",
        temporary=tmp_path / "run",
        logs=tmp_path / "logs",
    )


def plan(place: Place) -> ReplicaPlan:
    return ReplicaPlan(id="replica-1", port=23_711, place=place)


def test_replicas_go_round_the_cores_this_process_may_use() -> None:
    assert spread(3, cores=(2, 5), gpus=()) == (OnCore(2), OnCore(5), OnCore(2))


def test_replicas_go_round_the_cards_and_know_with_how_many_they_share_one() -> None:
    assert spread(3, cores=(0, 1), gpus=("0", "1")) == (
        OnGpu("0", sharing=2),
        OnGpu("1", sharing=1),
        OnGpu("0", sharing=2),
    )


def test_a_replica_on_a_core_gets_the_flags_of_the_cpu_build(serving: Serving) -> None:
    words = " ".join(replica_argv(plan(OnCore(1)), serving))
    assert words.startswith("/env/bin/python /env/bin/vllm serve /models/small --served-model-name small ")
    assert "--host 127.0.0.1 --port 23711 --max-model-len 4096" in words
    assert "--enforce-eager --block-size 32" in words
    assert "--enable-prompt-tokens-details" in words
    assert "--scheduling-policy priority" in words
    assert "--gpu-memory-utilization" not in words


def test_a_replica_on_a_card_gets_its_share_of_it_and_no_cpu_flag(serving: Serving) -> None:
    words = " ".join(replica_argv(plan(OnGpu("1", sharing=3)), serving))
    assert words.endswith("--gpu-memory-utilization 0.30")
    assert "--enforce-eager" not in words
    assert "--block-size" not in words


def test_the_core_and_the_card_are_bound_by_environment(serving: Serving) -> None:
    on_core = replica_environment(plan(OnCore(3)), serving, {})
    on_card = replica_environment(plan(OnGpu("1", sharing=1)), serving, {})
    assert (on_core["VLLM_CPU_OMP_THREADS_BIND"], on_core["VLLM_CPU_KVCACHE_SPACE"]) == ("3", "1")
    assert on_card["CUDA_VISIBLE_DEVICES"] == "1"
    assert "CUDA_VISIBLE_DEVICES" not in on_core


def test_a_replica_learns_nothing_of_ours_and_writes_into_a_home_it_is_given(serving: Serving) -> None:
    caller = {
        "DRILLYARD_DATABASE_URL": "secret",
        "PYTHONPATH": "/ours",
        "HOME": "/nonexistent",
        "PATH": "/bin",
        "LANG": "C",
    }
    own = replica_environment(plan(OnCore(0)), serving, caller)
    assert not {name for name in own if name.startswith(("DRILLYARD_", "PYTHON"))}
    assert own["HOME"] == str(serving.home)
    assert own["PATH"] == "/env/bin:/bin"
    assert own["TMPDIR"] == own["VLLM_RPC_BASE_PATH"] == str(serving.temporary)
    assert own["LANG"] == "C"
    assert own["HF_HUB_OFFLINE"] == "1"


def test_a_replica_is_waited_for_and_logs_under_its_own_name(serving: Serving) -> None:
    service = replica_service(plan(OnCore(0)), serving, caller={})
    assert (service.name, service.command.log.name) == ("replica-1", "replica-1.log")
    assert service.deadline_s == 300
    assert "/health" in (service.waiting_for() or "")
