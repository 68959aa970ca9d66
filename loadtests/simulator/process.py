"""One replica from the start of its process to the end: a closed port, phases, service, and vLLM's ways to go."""

import asyncio
import signal
import time

import structlog

from loadtests.simulator.app import admin_application, application
from loadtests.simulator.domain.lifecycle import LOADING, Event
from loadtests.simulator.fault_clock import FaultClock
from loadtests.simulator.port import Port
from loadtests.simulator.replica import Replica

# What vLLM 0.32 took, in seconds: after SIGTERM with its default of no grace, after a drain, after an engine's death.
_ABORT_PORT_S, _ABORT_EXIT_S = 0.15, 0.3
_DRAINED_PORT_S, _DRAINED_EXIT_S = 7.3, 0.3
_EXPIRED_EXIT_S = 0.3
_DEAD_PORT_S, _DEAD_EXIT_S = 0.5, 2.3
_WRITE_S = 1.0  # real seconds for what has been said to be written
_ENDED, _ENGINE_DIED = 0, 1

logger: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class ReplicaProcess:
    def __init__(self, replica: Replica, *, loading_factor: float = 1.0) -> None:
        self._replica = replica
        self._load_s = replica.profile.start_up.load_s * loading_factor
        options = replica.options
        self._port = Port(application(replica, now=time.time), host=options.host, port=options.port)
        self._admin = None
        if options.admin_port is not None:
            self._admin = Port(admin_application(replica), host=options.host, port=options.admin_port)
        self._clock = FaultClock(replica, self._port)
        self._asked_to_end = asyncio.Event()

    async def run(self) -> int:
        """Returns the status for the process to end with."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked_to_end.set)
        await self._replica.runner.start()
        async with asyncio.TaskGroup() as group:
            faults = group.create_task(self._clock.run())
            try:
                return await self._live()
            finally:
                faults.cancel()
                await self._replica.runner.stop()

    async def _live(self) -> int:
        if self._admin is not None:
            await self._admin.open()
            logger.info("admin port is open", port=self._admin.number)
        if not await self._load():
            return _ENDED
        await self._port.open()
        self._replica.changed.set()
        logger.info("replica is ready", port=self._port.number)
        if await self._first(self._asked_to_end, self._replica.died) is self._replica.died:
            return await self._after_death()
        return await self._after_signal()

    async def _load(self) -> bool:
        """Whether it came to its end: who is asked to leave while loading does so at once."""
        for phase, share in LOADING.items():
            logger.info("replica is loading", phase=phase.value)
            try:
                async with asyncio.timeout(self._replica.real_s(self._load_s * share)):
                    await self._asked_to_end.wait()
            except TimeoutError:
                self._replica.advance(Event.NEXT)
            else:
                return False
        return True

    async def _after_death(self) -> int:
        """The engine's process is gone: the server answers 500 for a moment, then its port closes, then it ends."""
        await self._pause(_DEAD_PORT_S)
        self._shut()
        await self._pause(_DEAD_EXIT_S)
        await self._port.finished(within_s=_WRITE_S)
        return _ENGINE_DIED

    async def _after_signal(self) -> int:
        runner = self._replica.runner
        grace_s = self._replica.options.shutdown_timeout_s
        if not grace_s:
            runner.kill("terminated")
            return await self._leave(_ABORT_PORT_S, _ABORT_EXIT_S)
        self._replica.advance(Event.TERMINATE)
        try:
            async with asyncio.timeout(self._replica.real_s(grace_s)):
                await runner.drained()
                # vLLM lingers after its last request, healthy to look at and of no use.
                await self._pause(_DRAINED_PORT_S)
            return await self._leave(0.0, _DRAINED_EXIT_S)
        except TimeoutError:
            runner.kill("terminated")
            return await self._leave(0.0, _EXPIRED_EXIT_S)

    async def _leave(self, port_s: float, exit_s: float) -> int:
        await self._pause(port_s)
        self._shut()
        await self._pause(exit_s)
        await self._port.finished(within_s=_WRITE_S)
        return _ENDED

    def _shut(self) -> None:
        self._port.seal()
        self._port.hang_up()

    async def _pause(self, simulated_s: float) -> None:
        await asyncio.sleep(self._replica.real_s(simulated_s))

    async def _first(self, *events: asyncio.Event) -> asyncio.Event:
        async with asyncio.TaskGroup() as group:
            waits = {group.create_task(event.wait()): event for event in events}
            done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in pending:
                wait.cancel()
        return waits[next(iter(done))]
