"""Puts the faults of the whole replica into effect when their time comes, and takes them back when it is over."""

import asyncio
import os
import signal

import structlog

from loadtests.simulator.domain.faults import Condition, Fault, FaultKind
from loadtests.simulator.port import Port
from loadtests.simulator.replica import Replica

_AGAIN_S = 0.1  # real seconds until the next try to open a port that somebody else has taken meanwhile

logger: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class FaultClock:
    def __init__(self, replica: Replica, port: Port) -> None:
        self._replica = replica
        self._port = port
        self._is_port_taken = False

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
            await self._open_port()

    async def _open_port(self) -> None:
        """Any connection of this machine may have got the number while the port was closed, and gives it back."""
        try:
            await self._port.open()
        except OSError as error:
            if not self._is_port_taken:
                logger.warning("port cannot be opened again yet", port=self._port.number, error=str(error))
            self._is_port_taken = True
        else:
            self._is_port_taken = False

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
        if self._is_port_taken:
            return _AGAIN_S
        now_s = replica.now_s
        next_s = replica.faults.next_change_s(now_s=now_s)
        return None if next_s is None else replica.real_s(next_s - now_s) + 0.001
