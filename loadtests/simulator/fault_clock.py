"""Puts the faults of the whole replica into effect when their time comes, and takes them back when it is over."""

import asyncio
import os
import signal

from loadtests.simulator.domain.faults import Condition, Fault, FaultKind
from loadtests.simulator.port import Port
from loadtests.simulator.replica import Replica


class FaultClock:
    def __init__(self, replica: Replica, port: Port) -> None:
        self._replica = replica
        self._port = port

    async def run(self) -> None:
        """For ever; sleeps until a fault is added or cleared, or one begins or ends by itself."""
        replica = self._replica
        while True:
            replica.changed.clear()
            if replica.phase.is_up:
                await self._apply(replica.faults.condition(now_s=replica.now_s))
                for fault in replica.faults.take_due(now_s=replica.now_s):
                    self._strike(fault)
            try:
                async with asyncio.timeout(self._until_next_s()):
                    await replica.changed.wait()
            except TimeoutError:
                continue

    async def _apply(self, condition: Condition) -> None:
        replica = self._replica
        replica.health_status = condition.health_status
        replica.runner.slowdown = condition.slowness
        if condition.frozen or replica.is_held:
            replica.runner.freeze()
        else:
            replica.runner.thaw()
        if condition.partitioned:
            replica.healed.clear()
        else:
            replica.healed.set()
        if condition.port_closed:
            self._port.close()
        else:
            await self._port.open()

    def _strike(self, fault: Fault) -> None:
        match fault.kind:
            case FaultKind.KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            case FaultKind.TERMINATE:
                os.kill(os.getpid(), signal.SIGTERM)
            case _:
                self._replica.runner.kill("killed by a fault")

    def _until_next_s(self) -> float | None:
        replica = self._replica
        if not replica.phase.is_up:
            return None
        now_s = replica.now_s
        next_s = replica.faults.next_change_s(now_s=now_s)
        return None if next_s is None else replica.real_s(next_s - now_s) + 0.001
