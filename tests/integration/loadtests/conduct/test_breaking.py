"""Faults on real processes: a simulated replica and a Redis, known by a ready file as `up` writes it."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from redis import Redis

from gateway.local.redis_server import RedisServer
from loadtests.conduct.breaker import Breaker
from loadtests.conduct.breaking import NotBroken, Scene, broken, meant
from loadtests.conduct.faults import fault_of, faults_of
from loadtests.domain.server import Event, EventKind
from loadtests.target import Target
from tests.support.engine_process import free_port
from tests.support.telling_replica import metrics_page, telling_replica

ROOT = Path(__file__).parents[4]
WITHIN_S = 30.0
UNANSWERED_S = 0.5


@dataclass(slots=True)
class House:
    """A replica that is kept running as `up` does it, with its number in the ready file."""

    ready_file: Path
    redis_url: str
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def scene(self) -> Scene:
        return Scene.of(Target(base_urls=(self.url,), ready_file=self.ready_file))

    def start(self) -> None:
        words = ["serve", "--port", str(self.port), "--load-s", "0"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "loadtests.simulator", *words],
            cwd=ROOT,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until(self.is_healthy)
        self.write(pid=self.process.pid)

    def write(self, *, pid: int, kind: str = "sim") -> None:
        replica = {"id": "replica-1", "url": self.url, "kind": kind}
        told = {"base_url": self.url, "replicas": [replica], "pids": {"replica-1": pid}, "redis_url": self.redis_url}
        self.ready_file.write_text(json.dumps(told))

    def is_healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=UNANSWERED_S, trust_env=False).is_success
        except httpx.TransportError:
            return False

    def end(self) -> int:
        assert self.process is not None
        self.process.kill()
        return self.process.wait()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, running_redis: RedisServer) -> Iterator[House]:
    house = House(tmp_path_factory.mktemp("stack") / "ready.json", running_redis.url)
    house.start()
    yield house
    house.end()


def test_a_frozen_replica_stands_still_until_the_end(house: House) -> None:
    with broken(fault_of("freeze@0"), house.scene) as answers:
        assert not house.is_healthy()
    until(answers)
    assert house.is_healthy()


def test_a_partition_heals_by_itself(house: House) -> None:
    with broken(fault_of("partition@0+1"), house.scene) as answers:
        assert not house.is_healthy()
    until(answers)


def test_a_slow_replica_says_so(house: House) -> None:
    with broken(fault_of("slow@0+1"), house.scene) as answers:
        (fault,) = httpx.get(f"{house.url}/sim/faults", trust_env=False).json()[-1:]
        assert (fault["kind"], fault["factor"], fault["for_s"]) == ("slow", 4.0, 1.0)
        assert answers()


@pytest.mark.parametrize("words", ["kill@0", "sigterm@0"])
def test_a_replica_that_ended_answers_again_once_another_was_started(house: House, words: str) -> None:
    assert house.process is not None
    with broken(fault_of(words), house.scene) as answers:
        house.process.wait(WITHIN_S)
        assert not answers()
    with pytest.raises(NotBroken, match="does not run"), broken(fault_of(words), house.scene):
        pytest.fail("there is nobody to kill")
    house.start()
    assert answers()


@pytest.mark.redis
def test_redis_forgets_everything(house: House) -> None:
    with Redis.from_url(house.redis_url) as client:
        client.set("some", "thing")
        with broken(fault_of("redis-flush@0"), house.scene):
            assert client.dbsize() == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("kill@0:replica-9", "there is no replica-9, but replica-1"),
        ("gateway-kill@0", "gateway does not run"),
        ("drain@0", "an operator's key"),
        ("late-booking@0:3", "no scenario"),
    ],
)
def test_what_cannot_be_broken_says_why(house: House, words: str, why: str) -> None:
    with pytest.raises(NotBroken, match=why), broken(fault_of(words), house.scene):
        pytest.fail("it was broken")


def test_nothing_but_a_drain_can_be_done_to_what_is_not_ours() -> None:
    elsewhere = Scene(base_url="http://127.0.0.1:1", operator_key="key")
    assert "does not run this fleet" in (elsewhere.lacks(fault_of("kill@0")) or "")
    assert elsewhere.lacks(fault_of("drain@0")) is None


def test_a_real_replica_has_no_faults_of_a_simulator(house: House) -> None:
    assert house.process is not None
    house.write(pid=house.process.pid, kind="vllm")
    assert house.scene.lacks(fault_of("slow@0")) == "replica-1 is no simulated replica"
    assert house.scene.lacks(fault_of("freeze@0")) is None
    house.write(pid=house.process.pid)


def test_a_process_that_leads_no_group_of_its_own_is_left_alone(house: House) -> None:
    """A signal to its group would reach others."""
    assert house.process is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        house.write(pid=stranger.pid)
        with pytest.raises(NotBroken, match="does not run"), broken(fault_of("kill@0"), house.scene):
            pytest.fail("a stranger was killed")
        assert stranger.poll() is None
        assert os.getpgid(stranger.pid) != stranger.pid
    house.write(pid=house.process.pid)


def test_faults_happen_at_their_times_and_are_told(house: House) -> None:
    told: list[Event] = []
    began = time.monotonic()
    breaker = Breaker(
        faults_of(["freeze@5+2", "kill@5:replica-9", "kill@1000"]),
        house.scene,
        clock=lambda: 10 * (time.monotonic() - began),
        speed_up=10,
        tell=told.append,
    )
    with breaker.running():
        until(lambda: len(told) == 2)
    fault, mended = told
    assert (fault.kind, fault.target, fault.note) == (EventKind.FAULT, "replica-1", "freeze")
    assert 5 <= fault.at_s < 6
    assert (mended.kind, mended.target) == (EventKind.MENDED, "replica-1")
    assert fault.at_s + 2 <= mended.at_s
    assert mended.note == f"freeze after {mended.at_s - fault.at_s:.1f} s"
    assert breaker.failures == ["kill@5:replica-9: there is no replica-9, but replica-1"]
    assert house.is_healthy()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_that_went_wrong_in_an_unforeseen_way_is_not_passed_over(tmp_path: Path) -> None:
    file, told = tmp_path / "ready.json", list[Event]()
    file.write_text(json.dumps({"replicas": [{"id": "replica-1"}]}))
    scene = Scene.of(Target(base_urls=("http://127.0.0.1:9",), ready_file=file))
    breaker = Breaker(faults_of(["slow@0"]), scene, clock=lambda: 0.0, speed_up=1.0, tell=told.append)
    before = threading.active_count()
    with breaker.running():
        until(lambda: threading.active_count() == before)
    assert (told, breaker.failures) == ([], ["slow@0+10:replica-1: it did not happen"])


def test_at_the_end_nothing_stands_still(house: House) -> None:
    told: list[Event] = []
    breaker = Breaker(faults_of(["freeze@0+1000"]), house.scene, clock=lambda: 0.0, speed_up=1.0, tell=told.append)
    with breaker.running():
        until(lambda: bool(told))
    until(house.is_healthy)


def test_the_busiest_is_whoever_has_most_requests_then(tmp_path: Path) -> None:
    file = tmp_path / "ready.json"
    scene = Scene.of(Target(base_urls=("http://127.0.0.1:9",), ready_file=file))
    idle, busy = [metrics_page()], [metrics_page(running=3), metrics_page()]
    with telling_replica("replica-1", idle) as one, telling_replica("replica-2", busy) as other:
        gone = {"id": "replica-3", "url": "http://127.0.0.1:9"}
        known = [{"id": each.id, "url": each.url} for each in (one, other)]
        file.write_text(json.dumps({"replicas": [*known, gone]}))
        assert str(meant(fault_of("kill@1:busiest"), scene)) == "kill@1:replica-2"
        assert meant(fault_of("kill@1:replica-3"), scene).target == "replica-3"
    assert scene.lacks(fault_of("kill@1:busiest")) is None
