"""Which processes of a run still live, and how they are signalled: never one that only has the number of another."""

import os
import signal
from contextlib import suppress

from router.fleet.adapters.processes.replica_shim import Process, Run, boot, entry, family_of, living


def is_alive(run: Run) -> bool:
    """Whether its shim lives."""
    return run.boot == boot() and _lives(run.shim)


def signal_shim(run: Run, what: signal.Signals) -> None:
    if run.boot == boot():
        _signal(run.shim, what)


def end_remains(run: Run) -> bool:
    """Kill what a dead shim has left; whether there was anybody."""
    if run.boot != boot() or not any(_lives(one) for one in run.family):
        return False
    # One of them lives, so the session's number is still theirs, and so is whoever came to it since.
    for one in {*family_of(run.shim.pid, living()), *run.family}:
        _signal(one, signal.SIGKILL)
    return True


def _lives(process: Process) -> bool:
    found = entry(process.pid)
    return found is not None and found.process == process and not found.is_dead


def _signal(process: Process, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        holding = os.pidfd_open(process.pid)
        try:
            if _lives(process):  # the descriptor keeps meaning this one, whoever gets its number next
                signal.pidfd_send_signal(holding, what)
        finally:
            os.close(holding)
