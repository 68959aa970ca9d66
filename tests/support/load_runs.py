"""Folders of load drills as a conductor leaves them: a class on simulated replicas, one of which is killed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from loadtests.domain.drill import Drill
from loadtests.domain.rows import Row
from loadtests.domain.server import Event, EventKind, LagSample, ProcessSample, ReplicaSample
from loadtests.domain.targets import DEFAULT
from loadtests.run_files import append, write_object
from loadtests.run_folder import RunFolder
from tests.support.load_rows import a_failed_turn, a_session

KILLED_S, MENDED_S = 30.0, 36.0


def a_run(
    path: Path,
    *,
    trainees: int = 20,
    turns: int = 10,
    replicas: int = 2,
    rows: Iterable[Row] | None = None,
    facts: Mapping[str, object] | None = None,
) -> RunFolder:
    """Each trainee has a session at one of the replicas. While replica-2 is away its turns fail."""
    folder = RunFolder(path)
    path.mkdir(parents=True, exist_ok=True)
    write_object(folder.drill, Drill(trainees=trainees, turns=(turns, turns)).as_json())
    told = {"bell_at": "2026-12-01T09:30:00Z", "targets": DEFAULT.as_json(), "incomplete": None}
    write_object(folder.facts, {**told, **(facts or {})})
    rows = list(_rows(trainees, turns, replicas) if rows is None else rows)
    for worker in (0, 1):
        lines = [row.as_json() + "\n" for row in rows if row.worker == worker]
        folder.rows_of(worker).write_text("".join(lines))
    _watched(folder, until_s=10 * turns, trainees=trainees, replicas=replicas)
    return folder


def _watched(folder: RunFolder, *, until_s: int, trainees: int, replicas: int) -> None:
    seconds = range(-10, until_s)
    append(
        folder.replicas,
        [_look(at, number, trainees // replicas) for at in seconds for number in range(1, replicas + 1)],
    )
    append(
        folder.processes,
        [
            ProcessSample(at_s=at, name=name, cpu_s=share * (at + 10), memory_mb=100 + at)
            for at in seconds
            for name, share in (("gateway", 0.5), ("redis", 0.1))
        ],
    )
    for worker in (0, 1):
        append(folder.lag_of(worker), [LagSample(at, worker, 0.001 * (worker + 1)) for at in seconds])
    append(
        folder.events,
        [
            Event(at_s=0, kind=EventKind.BELL),
            Event(at_s=KILLED_S, kind=EventKind.FAULT, target="replica-2", note="kill"),
            Event(at_s=MENDED_S, kind=EventKind.MENDED, target="replica-2", note="kill after 6 s"),
            Event(at_s=until_s, kind=EventKind.END),
        ],
    )


def _rows(trainees: int, turns: int, replicas: int) -> Iterable[Row]:
    for trainee in range(trainees):
        replica = f"replica-{trainee % replicas + 1}"
        for row in a_session(turns, trainee=trainee, from_s=trainee / trainees, replica=replica, worker=trainee % 2):
            if replica == "replica-2" and KILLED_S <= row.started_s < MENDED_S:
                lost = a_failed_turn(row.turn or 0, at_s=row.started_s, failure="no_end")
                yield replace(lost, trainee=trainee, session=row.session, worker=row.worker)
            else:
                yield row


def _look(at_s: float, number: int, sessions: int) -> ReplicaSample:
    if number == 2 and KILLED_S <= at_s < MENDED_S:
        return ReplicaSample(at_s=at_s, replica="replica-2", up=False)
    return ReplicaSample(
        at_s=at_s,
        replica=f"replica-{number}",
        up=True,
        kv_usage=0.25 * number,
        running=number,
        waiting=0,
        preemptions=0,
        sessions=sessions,
    )
