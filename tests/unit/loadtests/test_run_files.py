"""What is written of a run is read again as it was."""

import json
from pathlib import Path

import pytest

from loadtests.domain.drill import Drill
from loadtests.domain.rows import Kind, Row
from loadtests.domain.server import Event, EventKind, LagSample, ProcessSample, ReplicaSample
from loadtests.run_files import (
    RunDamaged,
    append,
    line_of,
    read_drill,
    read_events,
    read_lag,
    read_object,
    read_processes,
    read_replicas,
    read_rows,
    write_object,
)
from loadtests.run_folder import RunFolder

ROW = Row(kind=Kind.TURN, worker=0, trainee=1, session="s", turn=1, planned_s=1.0, started_s=1.0, ended_s=2.0)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def test_a_drill(folder: RunFolder) -> None:
    drill = Drill(trainees=3, turns=(2, 4), faults=("kill@1",))
    write_object(folder.drill, drill.as_json())
    assert read_drill(folder) == drill


def test_samples_and_events(folder: RunFolder) -> None:
    replica = ReplicaSample(at_s=1.0, replica="replica-1", up=True, kv_usage=0.5, running=2)
    process = ProcessSample(at_s=1.0, name="gateway", cpu_s=2.5, memory_mb=80.0)
    late = Event(at_s=9.0, kind=EventKind.END)
    bell = Event(at_s=0.0, kind=EventKind.BELL)
    append(folder.replicas, [replica])
    append(folder.processes, [process])
    append(folder.events, [late])
    append(folder.events, [bell])
    lag = LagSample(at_s=1.0, worker=0, lag_s=0.002)
    folder.lag_of(0).write_text(line_of(lag))
    assert read_replicas(folder) == [replica]
    assert read_processes(folder) == [process]
    assert read_events(folder) == [bell, late]
    assert read_lag(folder) == [lag]


def test_rows_of_all_workers_without_the_line_that_was_cut(folder: RunFolder) -> None:
    folder.rows_of(0).write_text(ROW.as_json() + "\n" + ROW.as_json()[:40])
    folder.rows_of(1).write_text(ROW.as_json() + "\n")
    assert read_rows(folder) == [ROW, ROW]


def test_of_no_file_there_is_nothing(folder: RunFolder) -> None:
    assert not any((read_rows(folder), read_replicas(folder), read_events(folder)))


@pytest.mark.parametrize("line", ["", "[]", "{}", "nonsense", '{"kind": "turn", "strange": 1}'])
def test_a_damaged_line_is_named(folder: RunFolder, line: str) -> None:
    folder.rows_of(0).write_text(f"{ROW.as_json()}\n{line}\n")
    with pytest.raises(RunDamaged, match="line 2"):
        read_rows(folder)


@pytest.mark.parametrize("line", ["{}", '{"at_s": 1, "kind": "party"}', '{"at_s": 1, "kind": "bell", "x": 1}'])
def test_a_damaged_event_is_named(folder: RunFolder, line: str) -> None:
    folder.events.write_text(line + "\n")
    with pytest.raises(RunDamaged, match="line 1"):
        read_events(folder)


def test_values_of_another_kind_are_damage(folder: RunFolder) -> None:
    folder.rows_of(0).write_text(ROW.as_json().replace('"ended_s":2.0', '"ended_s":NaN') + "\n")
    with pytest.raises(RunDamaged, match="line 1: ended_s: nan is of another kind"):
        read_rows(folder)
    folder.lag_of(0).write_text('{"at_s": 1, "worker": 0, "lag_s": null}\n')
    with pytest.raises(RunDamaged, match="lag_s: None"):
        read_lag(folder)
    write_object(folder.drill, {"turns": [2, "many"]})
    with pytest.raises(RunDamaged, match=r"turns: .* is of another kind"):
        read_drill(folder)
    write_object(folder.drill, {"turns": [3, 2]})
    with pytest.raises(RunDamaged, match="is not a load drill: turns: at least 1, and the least first"):
        read_drill(folder)


def test_what_is_no_text_is_damaged(folder: RunFolder) -> None:
    folder.replicas.write_bytes(b"\xff\xfe\n")
    with pytest.raises(RunDamaged, match="cannot be read"):
        read_replicas(folder)


@pytest.mark.parametrize("content", [None, "", "[]", '{"shape": "party"}', '{"strange": 1}'])
def test_a_folder_of_something_else_is_no_run(folder: RunFolder, content: str | None) -> None:
    if content is not None:
        folder.drill.write_text(content)
    with pytest.raises(RunDamaged):
        read_drill(folder)


def test_an_object_is_written_whole(folder: RunFolder) -> None:
    write_object(folder.facts, {"was": 1})
    write_object(folder.facts, {"is": "ä"})
    assert read_object(folder.facts) == {"is": "ä"}
    assert json.loads(folder.facts.read_text()) == {"is": "ä"}
    assert [each.name for each in folder.path.iterdir()] == ["facts.json"]
