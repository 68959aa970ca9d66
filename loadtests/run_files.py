"""Reads and writes the files of a run's folder. A last line that was cut off is left out, a damaged one is an error."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from loadtests.domain.drill import Drill, drill_of
from loadtests.domain.kinds import of_its_kinds
from loadtests.domain.rows import Row, row_of
from loadtests.domain.server import Event, EventKind, LagSample, ProcessSample, ReplicaSample
from loadtests.domain.soundness import complaints
from loadtests.run_folder import RunFolder

_Read = TypeVar("_Read")


class RunDamaged(Exception):
    """The folder is not that of a run, or a file of it cannot be understood."""


def read_drill(folder: RunFolder) -> Drill:
    told = read_object(folder.drill)
    try:
        drill = drill_of(told)
    except (TypeError, ValueError) as error:
        raise RunDamaged(f"{folder.drill} is not a load drill: {error}") from None
    if wrong := complaints(drill):
        raise RunDamaged(f"{folder.drill} is not a load drill: {'; '.join(wrong)}")
    return drill


def read_rows(folder: RunFolder) -> list[Row]:
    return [row for file in folder.all_rows() for row in _lines(file, row_of)]


def read_lag(folder: RunFolder) -> list[LagSample]:
    return [
        sample
        for file in folder.all_lag()
        for sample in _lines(file, lambda line: of_its_kinds(LagSample(**json.loads(line))))
    ]


def read_replicas(folder: RunFolder) -> list[ReplicaSample]:
    return list(_lines(folder.replicas, lambda line: of_its_kinds(ReplicaSample(**json.loads(line)))))


def read_processes(folder: RunFolder) -> list[ProcessSample]:
    return list(_lines(folder.processes, lambda line: of_its_kinds(ProcessSample(**json.loads(line)))))


def read_events(folder: RunFolder) -> list[Event]:
    return sorted(_lines(folder.events, _event), key=lambda event: event.at_s)


def read_object(file: Path) -> dict[str, object]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunDamaged(f"{file} cannot be read: {error.strerror}") from None
    except ValueError:
        raise RunDamaged(f"{file} is not JSON") from None
    if not isinstance(content, dict):
        raise RunDamaged(f"{file} is not a JSON object")
    return content


def write_object(file: Path, content: Mapping[str, object]) -> None:
    """Whole or not at all, also when the machine stops in between."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(file)


def line_of(sample: Event | LagSample | ProcessSample | ReplicaSample) -> str:
    return json.dumps(asdict(sample), separators=(",", ":")) + "\n"


def append(file: Path, samples: Iterable[Event | LagSample | ProcessSample | ReplicaSample]) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.writelines(line_of(sample) for sample in samples)


def _event(line: str) -> Event:
    told = json.loads(line)
    return of_its_kinds(Event(**{**told, "kind": EventKind(told["kind"])}))


def _lines(file: Path, read: Callable[[str], _Read]) -> Iterator[_Read]:
    """Of no file there is nothing: a run that was stopped early has not all of them."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise RunDamaged(f"{file} cannot be read: {error}") from None
    *whole, _cut = text.split("\n")
    for number, line in enumerate(whole, start=1):
        try:
            yield read(line)
        except (KeyError, TypeError, ValueError) as error:
            raise RunDamaged(f"{file}, line {number}: {error}") from None
