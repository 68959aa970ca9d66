"""Classes out of a table of comma-separated values, as spreadsheets write them."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from io import StringIO
from zoneinfo import ZoneInfo

from sessions.domain.class_rows import MOST_ROWS, ClassFault, ClassFile, ClassRow, RowDefaults, name_fault
from sessions.domain.drill import MAX_PEOPLE
from sessions.domain.series import LONGEST_CLASS_MINUTES
from sessions.domain.zone import read_moment, zone_of

COLUMNS = (
    "name",
    "scenario",
    "starts_at",
    "ends_at",
    "minutes",
    "timezone",
    "expected_trainees",
    "seats",
    "walk_ins",
    "turns_in_flight",
    "key",
)
_NEEDED = ("name", "starts_at")
_SEPARATORS = ",;\t"
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)

_Line = tuple[int, Sequence[str]]


def read_csv(raw: bytes, defaults: RowDefaults) -> ClassFile:
    """Every row, and everything that is wrong with the file."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ClassFile(faults=(ClassFault("line 1", "it is not UTF-8; a spreadsheet saves it so as `CSV UTF-8`"),))
    lines, faults = _lines(text)
    names = [name.strip().lower() for name in lines[0][1]] if lines else []
    faults += _header_faults(names)
    rows: list[ClassRow] = []
    for number, cells in () if faults else lines[1:]:
        read = _Row(number, names=names, cells=cells)
        row = read.row(defaults)
        faults += read.faults
        if row is not None and not read.faults:
            rows.append(row)
    return ClassFile(tuple(rows), tuple(faults))


def _lines(text: str) -> tuple[list[_Line], list[ClassFault]]:
    """The rows that are not empty, each with the number of its first line, and where it is no table any more."""
    first = text.partition("\n")[0]
    table = csv.reader(StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=first.count), strict=True)
    lines: list[_Line] = []
    number = 1
    try:
        for cells in table:
            if any(cell.strip() for cell in cells):
                lines.append((number, [cell.strip() for cell in cells]))
            number = table.line_num + 1
            if len(lines) > MOST_ROWS + 1:
                return lines[:1], [ClassFault(f"line {number}", f"a file has {MOST_ROWS} classes at most")]
    except csv.Error as error:
        return lines[:1], [ClassFault(f"line {number}", f"it is no row of a table: {error}")]
    return lines, []


def _header_faults(names: Sequence[str]) -> list[ClassFault]:
    doubled = {name for name, count in Counter(names).items() if count > 1}
    unknown = [name for name in dict.fromkeys(names) if name not in COLUMNS]
    return [
        *(ClassFault("line 1", f"the column {name} is missing") for name in _NEEDED if name not in names),
        *(ClassFault("line 1", f"the column {name} is there twice") for name in sorted(doubled.intersection(COLUMNS))),
        *(
            ClassFault("line 1", f"there is no column {name[:40]!r}; there are {', '.join(COLUMNS)}")
            for name in unknown[:20]
        ),
    ]


class _Row:
    """One row while it is read; `faults` gathers what is wrong with it."""

    def __init__(self, number: int, *, names: Sequence[str], cells: Sequence[str]) -> None:
        self._line = f"line {number}"
        self._cells: Mapping[str, str] = dict(zip(names, cells, strict=False))
        self.faults: list[ClassFault] = []
        if len(cells) > len(names):
            self.faults.append(ClassFault(self._line, f"it has {len(cells)} cells under {len(names)} columns"))

    def row(self, defaults: RowDefaults) -> ClassRow | None:
        """None where there is no telling when it is, by whom, or in what."""
        name, zone = self._name(), self._zone(defaults)
        starts_at = self._moment("starts_at", zone)
        ends_at = self._end(starts_at, zone, defaults)
        scenario = self._needed("scenario", defaults.scenario)
        trainees = self._whole("expected_trainees", least=1) or defaults.trainees
        if trainees is None and not self._told("expected_trainees"):
            self._fault("expected_trainees", "it is missing, and no number was given for all classes")
        seats, walk_ins = self._whole("seats"), self._whole("walk_ins") or 0
        turns = self._whole("turns_in_flight", least=1)
        if starts_at is None or ends_at is None or trainees is None:
            return None
        return ClassRow(
            place=self._line,
            key=self._cells.get("key") or "\n".join((name, scenario, starts_at.isoformat())),
            name=name,
            starts_at=starts_at,
            ends_at=ends_at,
            scenario=scenario,
            expected_trainees=trainees,
            seats=seats,
            walk_ins=walk_ins,
            turns_in_flight=turns,
        )

    def _name(self) -> str:
        name = self._cells.get("name", "")
        fault = name_fault(name)
        if fault is not None:
            self._fault("name", fault)
        return name

    def _zone(self, defaults: RowDefaults) -> ZoneInfo | None:
        name = self._cells.get("timezone") or defaults.timezone
        zone = zone_of(name) if name else None
        if name and zone is None:
            self._fault("timezone", "there is no such time zone; one is written as Europe/Berlin")
        return zone

    def _end(self, starts_at: datetime | None, zone: ZoneInfo | None, defaults: RowDefaults) -> datetime | None:
        if self._cells.get("ends_at"):
            if self._cells.get("minutes"):
                self._fault("minutes", "it has an end already")
            return self._moment("ends_at", zone)
        minutes = self._whole("minutes", least=1, most=LONGEST_CLASS_MINUTES) or defaults.minutes
        if minutes is None and not self._told("minutes"):
            self._fault("ends_at", "it is missing, and so is the number of minutes")
        return None if starts_at is None or minutes is None else starts_at + timedelta(minutes=minutes)

    def _moment(self, column: str, zone: ZoneInfo | None) -> datetime | None:
        if self._told("timezone"):
            return None
        try:
            return read_moment(self._cells.get(column, ""), zone)
        except ValueError as error:
            self._fault(column, str(error))
            return None

    def _needed(self, column: str, default: str | None) -> str:
        value = self._cells.get(column) or default
        if not value:
            self._fault(column, "it is missing, and none was given for all classes")
        return value or ""

    def _whole(self, column: str, *, least: int = 0, most: int = MAX_PEOPLE) -> int | None:
        text = self._cells.get(column, "")
        if not text:
            return None
        if _WHOLE.fullmatch(text) and least <= int(text) <= most:
            return int(text)
        self._fault(column, f"it is a whole number from {least} to {most}")
        return None

    def _fault(self, column: str, detail: str) -> None:
        self.faults.append(ClassFault(f"{self._line}, {column}", detail))

    def _told(self, column: str) -> bool:
        return any(fault.place == f"{self._line}, {column}" for fault in self.faults)
