import json
from pathlib import Path

import pytest

from gateway.local.bundled_model import Model
from gateway.local.calendar_pool import ByCalendar, CalendarPool, simulated_pool, vllm_pool
from gateway.local.sim_replica import Simulation, Tuning
from gateway.local.vllm_replica import OnCore, OnGpu, Place, Serving
from router.fleet.settings import PoolSettings, ProcessHostSettings

MODEL = Model(folder=Path("/models/small"), name="small")
BY = ByCalendar(seats=8, lead_s=600.0)


def simulated() -> CalendarPool:
    simulation = Simulation(model=MODEL, tuning=Tuning(speed_up=20), window_tokens=2048, logs=Path("/logs"))
    return simulated_pool(simulation, replicas=3, by=BY)


def real(tmp_path: Path, *places: Place, **caller: str) -> CalendarPool:
    serving = Serving(
        environment=Path("/env"),
        model=MODEL,
        window_tokens=2048,
        home=tmp_path / "home",
        temporary=tmp_path / "run",
        logs=Path("/logs"),
    )
    return vllm_pool(serving, places, by=BY, caller=caller)


def settings_of(pool: CalendarPool) -> PoolSettings:
    (told,) = json.loads(pool.variables(MODEL, folder=Path("/data/fleet"))["DRILLYARD_FLEET__POOLS"])
    return PoolSettings.model_validate(told)


def host_of(pool: CalendarPool) -> ProcessHostSettings:
    host = settings_of(pool).host
    assert isinstance(host, ProcessHostSettings)
    return host


def test_gateway_and_controller_are_told_of_a_pool_that_begins_empty() -> None:
    pool = settings_of(simulated())
    assert (pool.model, pool.seats_per_replica, pool.maximum, pool.minimum) == ("small", 8, 3, 0)
    assert pool.lead_s == 600.0
    assert host_of(simulated()).folder == Path("/data/fleet")
    variables = simulated().variables(MODEL, folder=Path("/data/fleet"))
    assert variables["DRILLYARD_REPLICAS"] == "[]"
    assert variables["DRILLYARD_ROUTER__ENGINE_PRIORITY"] == "true"


def test_a_simulated_replica_is_run_as_ever_on_the_port_it_is_given() -> None:
    host = host_of(simulated())
    words = " ".join(host.command)
    assert "-m loadtests.simulator serve --host 127.0.0.1 --port {port} --model /models/small" in words
    assert host.slots == ("1", "2", "3")
    assert host.environment["PYTHONPATH"]


def test_a_replica_on_a_core_is_bound_to_that_of_its_slot(tmp_path: Path) -> None:
    host = host_of(real(tmp_path, OnCore(2), OnCore(5), OnCore(2)))
    assert host.slots == ("2", "5", "2")
    assert host.environment["VLLM_CPU_OMP_THREADS_BIND"] == "{slot}"
    assert " ".join(host.command).startswith("/env/bin/python /env/bin/vllm serve /models/small ")
    assert host.command[host.command.index("--port") + 1] == "{port}"
    assert (tmp_path / "home").is_dir()


def test_a_replica_on_a_card_gets_the_share_that_fits_the_fullest_one(tmp_path: Path) -> None:
    host = host_of(real(tmp_path, OnGpu("0", sharing=2), OnGpu("1", sharing=1), OnGpu("0", sharing=2)))
    assert host.slots == ("0", "1", "0")
    assert host.environment["CUDA_VISIBLE_DEVICES"] == "{slot}"
    assert host.command[-1] == "0.45"


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"])
def test_what_is_ours_is_made_empty_and_no_secret_is_told(tmp_path: Path, name: str) -> None:
    pool = real(tmp_path, OnCore(0), DRILLYARD_DATABASE_URL="postgresql://secret", **{name: "/ours"}, OTHER="theirs")
    assert pool.environment[name] == ""
    assert "secret" not in json.dumps(dict(pool.variables(MODEL, folder=Path("/f"))))
    assert "OTHER" not in pool.environment
