"""What every host promises, of services of a Compose file; the engine is a stand-in with recorded answers."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.adapters.compose_command import ComposeCommand
from router.fleet.adapters.compose_host import ComposeHost
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.errors import HostUnavailable
from tests.contract.router.fleet.host_promises import ORDERS, HostPromises, running
from tests.support import fake_docker

FILE = """\
services:
  vllm-0:
    labels: {drillyard.pool: org/model, drillyard.url: "http://127.0.0.1:8100"}
  redis:
    image: redis
  vllm-1:
    labels: ["drillyard.pool=org/model", "drillyard.url=http://127.0.0.1:8101"]
  other:
    labels: {drillyard.pool: other, drillyard.url: "http://127.0.0.1:9000"}
  vllm-2:
    labels: {drillyard.pool: org/model, drillyard.url: "http://127.0.0.1:8102"}
"""


class ComposeHouse:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "compose.fleet.yml"
        self.file.write_text(FILE)
        self.hosts: list[ComposeHost] = []
        self.host = self.another()

    def another(self, *, grace_s: float = 30.0, patience_s: float = 10.0) -> ComposeHost:
        program = (sys.executable, "-I", "-S", fake_docker.__file__, "compose")
        host = ComposeHost(
            command=ComposeCommand(program=program, file=self.file, project="drill"),
            file=self.file,
            label="drillyard.pool",
            pool=PoolName("org/model"),
            grace_s=grace_s,
            patience_s=patience_s,
        )
        self.hosts.append(host)
        return host

    async def close(self) -> None:
        """Until nothing of it goes on."""
        (self.folder / "hangs").unlink(missing_ok=True)
        for host in self.hosts:
            for job in (*host._starts.values(), *host._removals.values()):
                assert await job.ends(within_s=10.0)

    async def settle(self) -> None:
        """Orders are carried out before they return here, for the stand-in is quick."""

    async def kill(self, replica: ReplicaId) -> None:
        service = replica.rpartition("-")[0]
        with fake_docker.kept(self.folder) as containers:
            for one in containers:
                if one["service"] == service:
                    one |= {"state": "exited", "exit": 137, "log": "INFO ready\nCUDA error: out of memory"}

    async def cut(self) -> None:
        (self.folder / "away").touch()

    async def mend(self) -> None:
        (self.folder / "away").unlink()

    def calls(self, verb: str) -> list[list[str]]:
        lines = (self.folder / "calls").read_text().splitlines()
        return [words for words in map(json.loads, lines) if words[0] == verb]


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ComposeHouse]:
    monkeypatch.setenv(fake_docker.VARIABLE, str(tmp_path))
    house = ComposeHouse(tmp_path)
    yield house
    await house.close()


class TestComposeHost(HostPromises):
    pass


async def test_the_answers_of_older_versions_are_understood_too(house: ComposeHouse) -> None:
    (before,) = await running(house, 1)
    (house.folder / "array").touch()
    (after,) = await house.host.list()
    assert (after.id, after.phase, after.url) == (before.id, before.phase, before.url)
    assert after.since == pytest.approx(before.since, abs=1)


async def test_one_that_ended_says_its_code_and_its_last_words_and_is_asked_for_them_once(house: ComposeHouse) -> None:
    (replica,) = await running(house, 1)
    await house.kill(replica.id)
    for _ in range(3):
        (ended,) = await house.host.list()
        assert "exit code 137, as one that is killed" in ended.detail
        assert ended.detail.endswith("CUDA error: out of memory")
    assert len(house.calls("logs")) == 1


async def test_services_of_others_are_neither_listed_nor_taken(house: ComposeHouse) -> None:
    for service in ("redis", "other"):
        fake_docker.up(house.folder, service)
    replicas = await running(house, 3)
    assert {replica.url[-4:] for replica in replicas} == {"8100", "8101", "8102"}
    assert [words[-1] for words in house.calls("up")] == ["vllm-0", "vllm-1", "vllm-2"]


async def test_a_fourth_has_no_place_and_that_is_said(house: ComposeHouse) -> None:
    await running(house, 3)
    with pytest.raises(HostUnavailable, match="3 services for org/model, and all are taken"):
        await house.host.start(ReplicaId("order-4"), among=4)


async def test_one_that_ended_is_replaced_elsewhere_before_it_is_removed(house: ComposeHouse) -> None:
    (ill,) = await running(house, 1)
    await house.kill(ill.id)
    await house.host.start(ORDERS[1], among=1)
    phases = {replica.url[-4:]: replica.phase for replica in await house.host.list()}
    assert phases == {"8100": HostPhase.EXITED, "8101": HostPhase.RUNNING}


async def test_a_place_that_is_being_left_is_waited_for(house: ComposeHouse) -> None:
    host = house.another(patience_s=0.0)
    for among, order in enumerate(ORDERS, 1):
        await house.host.start(order, among=among)
    (house.folder / "hangs").write_text("rm")
    first = (await host.list())[0]
    await host.stop(first.id, among=2)
    await host.start(ReplicaId("order-4"), among=3)
    assert [replica.phase for replica in await host.list()].count(HostPhase.STOPPING) == 1
    await host.stop(first.id, among=2)
    (house.folder / "hangs").unlink()
    await until(host, lambda listed: first not in listed and len(listed) == 2)
    await host.start(ReplicaId("order-4"), among=3)
    await until(host, lambda listed: len(listed) == 3)
    assert len(house.calls("rm")) == 1


async def test_a_start_that_takes_its_time_is_not_ordered_twice(house: ComposeHouse) -> None:
    host = house.another(patience_s=0.0)
    (house.folder / "hangs").write_text("up")
    for _ in range(3):
        await host.start(ORDERS[0], among=1)
    assert list(await host.list()) == []
    (house.folder / "hangs").unlink()
    await until(host, lambda listed: len(listed) == 1)
    assert len(house.calls("up")) == 1


async def test_a_start_that_fails_says_why_and_may_be_tried_again(house: ComposeHouse) -> None:
    why = "Error response from daemon: could not select device driver"
    (house.folder / "fails").write_text(why)
    with pytest.raises(HostUnavailable, match=f"vllm-0: .* up: {why}"):
        await house.host.start(ORDERS[0], among=1)
    (house.folder / "fails").unlink()
    assert len(await running(house, 1)) == 1


async def test_a_container_that_could_not_be_started_has_ended_and_gives_its_place_back(house: ComposeHouse) -> None:
    why = "Error response from daemon: could not select device driver"
    (house.folder / "broken").write_text(why)
    with pytest.raises(HostUnavailable, match=why):
        await house.host.start(ORDERS[0], among=1)
    (replica,) = await house.host.list()
    assert (replica.phase, "could not be started" in replica.detail) == (HostPhase.EXITED, True)
    (house.folder / "broken").unlink()
    await house.host.stop(replica.id, among=0)
    assert list(await house.host.list()) == []


async def test_a_failure_after_the_wait_is_told_at_the_next_order(house: ComposeHouse) -> None:
    host = house.another(patience_s=0.0)
    (house.folder / "fails").write_text("no space left on device")
    await host.start(ORDERS[0], among=1)
    await house.close()
    with pytest.raises(HostUnavailable, match="no space left on device"):
        await host.start(ORDERS[0], among=1)
    assert len(house.calls("up")) == 1


async def test_a_removal_that_hangs_is_given_up_and_tried_again(house: ComposeHouse) -> None:
    (replica,) = await running(house, 1)
    (house.folder / "hangs").write_text("rm")
    host = house.another(grace_s=0.2)
    with pytest.raises(HostUnavailable, match=r"rm took longer than 0\.2 s"):
        await host.stop(replica.id, among=0)
    (house.folder / "hangs").unlink()
    await house.another().stop(replica.id, among=0)
    assert list(await host.list()) == []


async def test_a_service_that_was_scaled_by_hand_is_not_removed_as_one(house: ComposeHouse) -> None:
    (replica,) = await running(house, 1)
    with fake_docker.kept(house.folder) as containers:
        containers.append(containers[0] | {"id": "f" * 64})
    with pytest.raises(HostUnavailable, match="vllm-0 was scaled"):
        await house.host.stop(replica.id, among=0)
    assert len(await house.host.list()) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("services: [", "no YAML"),
        ("version: 3", "no services"),
        ("services: {vllm-0: {labels: [drillyard.pool=org/model]}}", "drillyard.url"),
    ],
)
async def test_a_file_that_says_something_else_is_told(house: ComposeHouse, text: str, why: str) -> None:
    house.file.write_text(text)
    with pytest.raises(HostUnavailable, match=why):
        await house.host.list()


async def test_a_file_and_a_program_that_are_not_there_are_told(house: ComposeHouse) -> None:
    missing = ComposeCommand(program=("no-such-docker",), file=house.file, project="p")
    with pytest.raises(HostUnavailable, match="no-such-docker cannot be run: No such file"):
        await missing.answer("ps", within_s=1.0)
    house.file.unlink()
    with pytest.raises(HostUnavailable, match="cannot be read"):
        await house.host.list()


async def until(host: ComposeHost, holds: Callable[[Sequence[HostedReplica]], bool]) -> None:
    async with asyncio.timeout(10.0):
        while not holds(await host.list()):
            pass
