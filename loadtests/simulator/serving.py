"""Runs one replica in this process until it ends."""

import asyncio
import sys

import structlog
import uvloop

from loadtests.simulator.domain.engine import Engine
from loadtests.simulator.domain.faults import Faults
from loadtests.simulator.options import Options
from loadtests.simulator.process import ReplicaProcess
from loadtests.simulator.replica import Replica
from loadtests.simulator.script import Script


def run_replica(options: Options, engine: Engine, script: Script) -> int:
    """Returns the status for the process to end with."""
    structlog.configure(
        processors=[structlog.processors.TimeStamper(fmt="iso"), structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )

    async def live() -> int:
        faults = Faults(entry.fault() for entry in script.faults)
        replica = Replica(options=options, engine=engine, rules=script.rules, faults=faults)
        return await ReplicaProcess(replica, loading_factor=script.loading_factor).run()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(live())
