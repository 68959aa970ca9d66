"""Replicas that are small real processes, on a host with three slots."""

import asyncio
import fcntl
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TextIO

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes.process_host import ProcessHost
from router.fleet.adapters.processes.replica_shim import Run, entry, living
from router.fleet.adapters.processes.shelf import Shelf
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.settings import ProcessHostSettings
from tests.support.eventually import eventually

PATIENCE_S = 20.0
SLEEPS = "import time\ntime.sleep(600)"
DEAF = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf')\ntime.sleep(600)"
_BUSY = {HostPhase.PENDING, HostPhase.STOPPING}


class ProcessHouse:
    """`engine` is the Python that a replica runs."""

    def __init__(
        self, folder: Path, *, engine: str = SLEEPS, slots: Sequence[str] = "abc", grace_s: float = 5.0
    ) -> None:
        self.folder = folder
        self.shelf = Shelf(folder)
        self.settings = ProcessHostSettings(
            command=(sys.executable, "-S", "-u", "-c", engine), slots=tuple(slots), folder=folder, grace_s=grace_s
        )
        self.host = self.another()
        self._held: TextIO | None = None

    def another(self, *, ahead_s: float = 0.0, patience_s: float = 0.5) -> ProcessHost:
        """`ahead_s`: how far its clock is ahead; `patience_s`: how long it waits for another one."""
        return ProcessHost(settings=self.settings, lock_within_s=patience_s, clock=lambda: time.time() + ahead_s)

    async def settle(self) -> None:
        await self.until(lambda listed: not _BUSY & {each.phase for each in listed})

    async def until(self, holds: Callable[[Sequence[HostedReplica]], object]) -> Sequence[HostedReplica]:
        deadline = time.monotonic() + PATIENCE_S
        while not holds(listed := await self.host.list()):
            assert time.monotonic() < deadline, listed
            await asyncio.sleep(0.01)
        return listed

    async def started(self, replica: str = "one") -> Run:
        await self.host.start(ReplicaId(replica), among=1)
        await self.settle()
        await eventually(lambda: self.run(replica).ended or bool(self.run(replica).family), within_s=PATIENCE_S)
        return self.run(replica)

    def run(self, replica: str) -> Run:
        found = self.shelf.one(ReplicaId(replica))
        assert found is not None
        assert found.run is not None
        return found.run

    async def kill(self, replica: ReplicaId) -> None:
        await eventually(lambda: bool(self.run(replica).family), within_s=PATIENCE_S)
        for one in self.run(replica).family:
            os.kill(one.pid, signal.SIGKILL)
        await self.until(lambda listed: HostPhase.EXITED in {each.phase for each in listed if each.id == replica})

    async def cut(self) -> None:
        self._held = (self.folder / "lock").open("a")
        fcntl.flock(self._held.fileno(), fcntl.LOCK_EX)

    async def mend(self) -> None:
        if self._held is not None:
            self._held.close()

    def said(self, replica: str) -> str:
        return self.shelf.log(ReplicaId(replica)).read_text()

    async def until_said(self, replica: str, words: str) -> str:
        await eventually(lambda: words in self.said(replica), within_s=PATIENCE_S)
        return self.said(replica)


def lives(pid: int) -> bool:
    found = entry(pid)
    return found is not None and not found.is_dead


@asynccontextmanager
async def process_house(
    folder: Path, *, engine: str = SLEEPS, slots: Sequence[str] = "abc", grace_s: float = 5.0
) -> AsyncIterator[ProcessHouse]:
    """Whatever a test leaves is killed, and it is a fault when its host had nothing to stop it by."""
    house = ProcessHouse(folder, engine=engine, slots=slots, grace_s=grace_s)
    try:
        yield house
    finally:
        await house.mend()
        for each in await house.host.list():
            await house.host.stop(each.id, among=0)
        await house.until(lambda listed: not listed)
    assert working_in(folder) == []


def working_in(folder: Path) -> list[int]:
    """Whoever has its working directory there."""
    left = []
    for one in living():
        with suppress(OSError):
            if (Path("/proc") / str(one.process.pid) / "cwd").readlink().is_relative_to(folder):
                left.append(one.process.pid)
    return left
