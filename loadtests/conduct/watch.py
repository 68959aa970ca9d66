"""Looks at the servers while a drill runs: at replicas by their metrics, at the fleet by the gateway, at processes.

Each replica is looked at by a thread of its own, so that one that does not answer delays no other.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from loadtests.conduct.http_line import HttpLine, Unanswered
from loadtests.conduct.process_table import used
from loadtests.conduct.stack import StackFailed, pids_in, read_ready
from loadtests.domain.engine_metrics import engine_load
from loadtests.domain.server import ProcessSample, ReplicaSample
from loadtests.run_files import line_of
from loadtests.run_folder import RunFolder
from loadtests.target import Replica, Target, TargetRefused, require_local

_EVERY_S = 1.0
_FLEET_EVERY_S = 2.0
_PATIENCE_S = 2.0


class Watch:
    """From the beginning of the block to its end. `clock` tells drill seconds since the bell."""

    def __init__(self, target: Target, folder: RunFolder, *, clock: Callable[[], float]) -> None:
        self._target = target
        self._folder = folder
        self._clock = clock
        self._over = threading.Event()
        self._writing = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self._sessions: Mapping[str, int] = {}
        self.own: Mapping[str, int] = {}
        """Processes beside those of the ready file, by name."""

    def __enter__(self) -> Self:
        for replica in self._target.replicas:
            self._look_after(replica)
        if self._target.operator_key is not None:
            self._run("the fleet", self._see_fleet)
        self._run("the processes", self._see_processes)
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._over.set()
        for thread in list(self._threads.values()):
            thread.join()

    def _look_after(self, replica: Replica) -> None:
        """Only where load may go too: the addresses of a fleet come from a server."""
        if replica.id in self._threads:
            return
        with suppress(TargetRefused):
            require_local(replica.url, named=self._target.named)
            self._run(replica.id, lambda: self._see_replica(replica))

    def _run(self, name: str, work: Callable[[], None]) -> None:
        self._threads[name] = threading.Thread(target=work, name=f"watch {name}", daemon=True)
        self._threads[name].start()

    def _see_replica(self, replica: Replica) -> None:
        with HttpLine(replica.url, timeout_s=_PATIENCE_S) as line:
            while True:
                self._keep(self._folder.replicas, self._sample(replica, line))
                if self._over.wait(_EVERY_S):
                    return

    def _sample(self, replica: Replica, line: HttpLine) -> ReplicaSample:
        at_s = self._clock()
        try:
            page = line.get("/metrics").decode("utf-8", "replace")
        except Unanswered:
            return ReplicaSample(at_s=at_s, replica=replica.id, up=False)
        return ReplicaSample(
            at_s=at_s, replica=replica.id, up=True, sessions=self._sessions.get(replica.id), **asdict(engine_load(page))
        )

    def _see_fleet(self) -> None:
        """Sessions of each replica, and replicas that have come since."""
        with HttpLine(self._target.base_url, timeout_s=_PATIENCE_S) as line:
            while True:
                with suppress(Unanswered):
                    self._take(line.get_object("/v1/fleet", key=self._target.operator_key))
                if self._over.wait(_FLEET_EVERY_S):
                    return

    def _take(self, fleet: Mapping[str, object]) -> None:
        told = fleet.get("replicas")
        seen = [each for each in (told if isinstance(told, list) else ()) if isinstance(each, dict)]
        self._sessions = {str(e.get("id")): e["sessions"] for e in seen if isinstance(e.get("sessions"), int)}
        for each in seen:
            self._look_after(Replica(str(each.get("id")), str(each.get("url", "")).rstrip("/")))

    def _see_processes(self) -> None:
        while True:
            for name, pid in {**pids_of(self._target.ready_file), **self.own}.items():
                at_s, found = self._clock(), used(pid)
                if found is not None:
                    sample = ProcessSample(at_s=at_s, name=name, cpu_s=found.cpu_s, memory_mb=found.memory_mb)
                    self._keep(self._folder.processes, sample)
            if self._over.wait(_EVERY_S):
                return

    def _keep(self, file: Path, sample: ReplicaSample | ProcessSample) -> None:
        with self._writing, file.open("a", encoding="utf-8") as out:
            out.write(line_of(sample))


def pids_of(ready_file: Path | None) -> Mapping[str, int]:
    """The processes of a stack of this machine now; whatever starts one again writes the file anew."""
    if ready_file is None:
        return {}
    try:
        return pids_in(read_ready(ready_file))
    except StackFailed:
        return {}
