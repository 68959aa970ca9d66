"""The record of regressions: a line for each, with what was changed and what came of it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadtests.domain.compared import Compared, Finding
from loadtests.ledger.baselines import Place
from loadtests.regress.regression import Line, Regression

_FILE = "regressions.jsonl"


@dataclass(frozen=True, slots=True)
class Record:
    """`unreadable` lines are counted, and left where they are."""

    folder: Path

    def append(self, row: Mapping[str, object]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / _FILE
        begun = file.exists() and not file.read_bytes().endswith(b"\n")
        with file.open("a", encoding="utf-8") as out:
            # A line that was cut off when a machine stopped must not swallow this one.
            out.write(("\n" if begun and file.stat().st_size else "") + json.dumps(row, ensure_ascii=False) + "\n")

    def rows(self) -> tuple[list[dict[str, object]], int]:
        """All that can be read, oldest first, and how many lines cannot."""
        try:
            lines = (self.folder / _FILE).read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return [], 0
        told = [_object(line) for line in lines if line.strip()]
        return [each for each in told if each is not None], sum(1 for each in told if each is None)

    def last_acceptable(self) -> dict[Place, tuple[str, ...]]:
        """The runs of the latest regression that may be accepted as baselines."""
        rows, _ = self.rows()
        return dict(_places(rows[-1])) if rows else {}


def row_of(regression: Regression, *, at: str, change: str, accepted: bool) -> dict[str, object]:
    entries = [entry for line in regression.lines for entry in line.entries]
    first = entries[0] if entries else None
    return {
        "at": at,
        "suite": regression.suite,
        "change": change,
        "revision": first.revision if first else "",
        "is_changed": bool(first and first.is_changed),
        "fleet": list(first.fleet) if first else [],
        "exit_code": regression.exit_code,
        "accepted": accepted,
        "drills": [_drill(line) for line in regression.lines],
    }


def _drill(line: Line) -> dict[str, object]:
    place = line.place
    return {
        "name": line.name,
        "runs": [entry.run for entry in line.entries],
        "verdict": line.whole,
        "baseline": list(line.baseline),
        "worse": [_change(each) for each in line.changed(Finding.WORSE)],
        "better": [_change(each) for each in line.changed(Finding.BETTER)],
        "failure": line.failure,
        "place": [place.suite, place.name, place.drill, place.machine] if place and line.is_acceptable else None,
    }


def _change(metric: Compared) -> dict[str, object]:
    told = metric.as_json()
    return {name: told[name] for name in ("name", "before", "after", "share")}


def _object(line: str) -> dict[str, object] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def _places(row: Mapping[str, object]) -> Iterator[tuple[Place, tuple[str, ...]]]:
    drills = row.get("drills")
    for each in drills if isinstance(drills, list) else ():
        place, runs = (each.get("place"), each.get("runs")) if isinstance(each, dict) else (None, None)
        if isinstance(place, list) and len(place) == len(Place.__dataclass_fields__) and isinstance(runs, list):
            yield Place(*map(str, place)), tuple(map(str, runs))
