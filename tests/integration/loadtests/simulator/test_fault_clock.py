"""The faults of a whole replica: frozen, slow, shut, flapping, cut off, unhealthy, killed; and in time by a script."""

import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.simulator_process import SimulatorProcess, chat, simulator

SPEED_UP = 20


@pytest.fixture
def own_replica() -> Iterator[SimulatorProcess]:
    with simulator("--speed-up", str(SPEED_UP)) as process:
        yield process


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_refused(process: SimulatorProcess) -> bool:
    try:
        httpx.get(f"{process.url}/health", trust_env=False)
    except httpx.TransportError:  # also a connection that came into the queue just before the port was closed
        return True
    return False


def now_s(process: SimulatorProcess) -> float:
    seconds: float = process.admin.get("/sim/state").json()["now_s"]
    return seconds


def post(process: SimulatorProcess, *, timeout: float = 20.0, **fields: object) -> httpx.Response:
    return process.client.post("/v1/chat/completions", json=chat("Hello?", **fields), timeout=timeout)


def test_a_frozen_engine_is_healthy_and_says_nothing_and_goes_on_when_it_thaws(replica: SimulatorProcess) -> None:
    replica.fault(kind="freeze")
    with pytest.raises(httpx.ReadTimeout):
        post(replica, timeout=0.4)
    assert replica.client.get("/health").status_code == 200
    assert replica.client.get("/v1/models").status_code == 200
    replica.clear_faults()
    assert post(replica).status_code == 200


def test_a_freeze_ends_by_itself_when_its_time_is_over(replica: SimulatorProcess) -> None:
    replica.fault(kind="freeze", for_s=1.0 * SPEED_UP)
    began = time.monotonic()
    assert post(replica).status_code == 200
    assert 0.9 < time.monotonic() - began < 5


def test_a_slow_engine_takes_longer(replica: SimulatorProcess) -> None:
    def duration() -> float:
        began = time.monotonic()
        post(replica, max_tokens=50, ignore_eos=True)
        return time.monotonic() - began

    usual = duration()
    replica.fault(kind="slow", factor=10)
    wait_for(lambda: len(replica.admin.get("/sim/faults").json()) == 1)
    assert duration() > 4 * usual


def test_refused_connections_come_back(own_replica: SimulatorProcess) -> None:
    own_replica.fault(kind="refuse_connections")
    wait_for(lambda: is_refused(own_replica))
    assert own_replica.client.get("/health").status_code == 200, "an open connection lives on"
    own_replica.clear_faults()
    wait_for(lambda: not is_refused(own_replica))


def test_a_flapping_port_closes_and_opens(own_replica: SimulatorProcess) -> None:
    own_replica.fault(kind="flap", period_s=0.2 * SPEED_UP)
    seen = [is_refused(own_replica)]
    deadline = time.monotonic() + 10
    while len(seen) < 5 and time.monotonic() < deadline:
        if (now := is_refused(own_replica)) is not seen[-1]:
            seen.append(now)
        time.sleep(0.01)
    assert len(seen) == 5


def test_a_partition_swallows_everything_and_lets_it_through_when_it_heals(own_replica: SimulatorProcess) -> None:
    own_replica.script("a " * 200)
    with own_replica.client.stream("POST", "/v1/chat/completions", json=chat(stream=True)) as answer:
        lines = answer.iter_lines()
        next(lines)
        own_replica.fault(kind="partition", for_s=1.0 * SPEED_UP)
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{own_replica.url}/health", timeout=0.3, trust_env=False)
        assert [*lines][-2] == "data: [DONE]"
    assert own_replica.client.get("/health").status_code == 200


def test_an_unhealthy_replica_still_serves(replica: SimulatorProcess) -> None:
    replica.fault(kind="unhealthy", status=503)
    wait_for(lambda: replica.client.get("/health").status_code == 503)
    assert replica.client.get("/ping").status_code == 503
    assert post(replica).status_code == 200
    replica.clear_faults()
    wait_for(lambda: replica.client.get("/health").status_code == 200)


def test_a_killed_replica_is_gone_at_once(own_replica: SimulatorProcess) -> None:
    own_replica.fault(kind="kill")
    assert own_replica.wait_for_end() == -signal.SIGKILL


def test_a_terminated_replica_ends_as_by_a_supervisor(own_replica: SimulatorProcess) -> None:
    own_replica.fault(kind="terminate")
    assert own_replica.wait_for_end() == 0


def test_a_script_breaks_the_replica_at_its_times_after_it_is_ready(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    faults = [
        {"kind": "freeze", "from_s": 0.3 * SPEED_UP, "for_s": 0.5 * SPEED_UP},
        {"kind": "kill", "from_s": 1.5 * SPEED_UP},
    ]
    script.write_text(json.dumps({"faults": faults, "replies": [{"replies": ["As written."]}]}))
    with simulator("--speed-up", str(SPEED_UP), "--script", str(script)) as process:
        assert post(process).json()["choices"][0]["message"]["content"] == "As written."
        assert process.wait_for_end() == -signal.SIGKILL


def test_a_port_that_somebody_took_meanwhile_opens_when_it_is_given_back(own_replica: SimulatorProcess) -> None:
    own_replica.fault(kind="refuse_connections", for_s=0.5 * SPEED_UP)
    over_s = now_s(own_replica) + 0.7 * SPEED_UP
    wait_for(lambda: is_refused(own_replica))
    with socket.create_server(("127.0.0.1", httpx.URL(own_replica.url).port or 0)):
        wait_for(lambda: now_s(own_replica) > over_s)
    wait_for(lambda: not is_refused(own_replica))
    assert post(own_replica).status_code == 200
