"""Where recorded traces lie: two that are shipped, by their names, and any other file in one of their formats."""

import gzip
from pathlib import Path

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.part import Part
from loadtests.domain.timetable import timetable
from loadtests.domain.trace import Arrival, read_trace

_SHIPPED = Path(__file__).parent / "traces"
NAMES = {"azure": "azure-conv-2023.csv.gz", "mooncake": "mooncake-synthetic.jsonl.gz"}


def arrivals_of(trace: str) -> tuple[Arrival, ...]:
    """Raises `ValueError` for what is no trace, `OSError` for what cannot be read."""
    file = _SHIPPED / NAMES[trace] if trace in NAMES else Path(trace)
    content = file.read_bytes()
    return read_trace((gzip.decompress(content) if file.suffix == ".gz" else content).decode())


def parts_of(drill: Drill) -> tuple[Part, ...]:
    """The timetable of any drill, which is not empty; raises `ValueError`, and `OSError` for a trace that cannot be
    read."""
    parts = timetable(drill, arrivals_of(drill.trace) if drill.shape is Shape.TRACE and drill.trace else ())
    if not parts:
        raise ValueError("trace: nothing of it comes within the time that is played")
    return parts
