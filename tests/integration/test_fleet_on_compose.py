"""A class by the calendar, on services of a Compose file: controllers that are killed, and containers that are."""

import itertools
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.always_leads import AlwaysLeads
from router.fleet.adapters.compose_command import ComposeCommand
from router.fleet.adapters.compose_host import ComposeHost
from router.fleet.adapters.dry_run import DryRunWarmth
from router.fleet.adapters.memory_ledger import MemoryLedger
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.controller import Controller
from router.fleet.domain.compose_file import ComposePlan, compose_text
from router.fleet.domain.demand import Booking, BookingId, PoolName
from router.fleet.domain.hosted import Mark
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.keeping import Around, Pool
from tests.support import fake_docker
from tests.support.one_class import OneClass

POOL = PoolName("org/model")
BELL = 2_000_000_000.0
END = BELL + 300
RULES = PoolRules(seats_per_replica=10, maximum=4, lead_s=300.0, alert_s=60.0)
EVERY_S = 60.0


class Killed(BaseException):
    """The controller's process, at whatever it was doing."""


class Mortal(ComposeHost):
    """One whose controller is killed at some of the orders, before or after they were carried out."""

    dice: random.Random | None = None

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        self._maybe_killed()
        await super().start(replica, among=among)
        self._maybe_killed()

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        self._maybe_killed()

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        self._maybe_killed()
        await super().stop(replica, among=among)
        self._maybe_killed()

    def _maybe_killed(self) -> None:
        if self.dice is not None and self.dice.random() < 0.3:
            raise Killed


class ClassHouse:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "compose.fleet.yml"
        gpus = [("0",), ("1",), ("2",), ("3",)]
        self.file.write_text(compose_text(ComposePlan(model=POOL, weights="/m", gpus=gpus, flags={})))
        self.dice: random.Random | None = None
        self.kills = 0
        self.now = BELL - 660
        self.ledger = MemoryLedger()
        self.routers = MemoryRouters()
        self.world = OneClass(Booking(BookingId("b"), POOL, BELL, END, expected=30))
        self._numbers = itertools.count(1)
        self.controller = self._controller()

    def _controller(self) -> Controller:
        program = (sys.executable, "-I", "-S", fake_docker.__file__, "compose")
        host = Mortal(
            command=ComposeCommand(program=program, file=self.file, project="drill"),
            file=self.file,
            label="drillyard.pool",
            pool=POOL,
            grace_s=30.0,
            patience_s=10.0,
        )
        host.dice = self.dice
        around = Around(
            leadership=AlwaysLeads("one"),
            ledger=self.ledger,
            calendar=self.world,
            routers=self.routers,
            warmth=DryRunWarmth(),
            prefixes=self.world,
            alarm=self.world,
        )
        return Controller(
            pools=[Pool(POOL, RULES, host)],
            around=around,
            clock=lambda: self.now,
            new_id=lambda _: ReplicaId(f"order-{next(self._numbers)}"),
        )

    async def rounds(self, until: float) -> None:
        while self.now < until:
            self.now += EVERY_S
            try:
                await self.controller.take_round(self.now)
            except Killed:
                self.kills += 1
                self.controller = self._controller()
            services = Counter(one["service"] for one in self.containers())
            assert max(services.values(), default=0) <= 1
            assert {"redis", "postgres"}.isdisjoint(services)

    def containers(self) -> list[dict[str, object]]:
        with fake_docker.kept(self.folder) as containers:
            return list(containers)

    def running(self) -> int:
        return sum(one["state"] == "running" for one in self.containers())

    def end_one(self) -> str:
        """A container ends by itself."""
        with fake_docker.kept(self.folder) as containers:
            containers[0] |= {"state": "exited", "exit": 1, "log": "RuntimeError: CUDA error"}
            return str(containers[0]["id"])


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassHouse:
    monkeypatch.setenv(fake_docker.VARIABLE, str(tmp_path))
    return ClassHouse(tmp_path)


async def test_a_class_has_its_replicas_at_the_bell_and_none_stay_after_it(house: ClassHouse) -> None:
    await house.rounds(BELL)
    assert house.running() == 3
    assert len(house.routers.joined) == 3
    await house.rounds(END + 360)
    assert house.containers() == []
    assert house.routers.joined == {}
    assert (await house.ledger.read(POOL)).records == {}
    assert house.world.told == []


async def test_a_container_that_ends_by_itself_is_replaced_and_removed(house: ClassHouse) -> None:
    await house.rounds(BELL)
    ended = house.end_one()
    await house.rounds(BELL + 180)
    assert house.running() == len(house.containers()) == 3
    assert ended not in {one["id"] for one in house.containers()}
    assert len(house.routers.joined) == 3


@pytest.mark.parametrize("seed", [1])
async def test_whenever_the_controller_is_killed_the_class_is_served(house: ClassHouse, seed: int) -> None:
    house.dice = random.Random(seed)  # noqa: S311 - no secret hangs on it
    house.controller = house._controller()
    await house.rounds(BELL)
    assert house.running() == 3
    assert len(house.routers.joined) == 3
    await house.rounds(END + 600)
    assert house.containers() == []
    assert (await house.ledger.read(POOL)).records == {}
    assert house.kills > 0
