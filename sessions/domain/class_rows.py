"""Classes as files tell of them, and what becomes of the drills when such a file is read again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from unicodedata import category

from sessions.domain.drill import Drill, DrillEvent, DrillPlan, DrillState, changed, checked, ended
from sessions.domain.scenario import ScenarioId

MOST_ROWS = 5_000
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class ClassFault:
    """What is wrong with a file, and where: a line and column, or the UID of an event."""

    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class of a file."""

    place: str
    key: str
    """What makes it this class and no other one of the file, when it is read again."""
    name: str
    starts_at: datetime
    ends_at: datetime
    scenario: str
    """An id, or a whole title."""
    expected_trainees: int
    seats: int | None = None
    walk_ins: int = 0
    turns_in_flight: int | None = None
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class ClassFile:
    """What could be read of a file, and all that could not."""

    rows: tuple[ClassRow, ...] = ()
    faults: tuple[ClassFault, ...] = ()


@dataclass(frozen=True, slots=True)
class RowDefaults:
    """What holds for every class whose row does not say it."""

    scenario: str | None = None
    trainees: int | None = None
    timezone: str | None = None
    minutes: int | None = None


class Change(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    CANCELLED = "cancelled"
    UNCHANGED = "unchanged"
    LEFT_ALONE = "left_alone"
    """It was cancelled or archived here, and stays so."""


@dataclass(frozen=True, slots=True)
class ImportStep:
    change: Change
    drill: Drill


def name_fault(name: str) -> str | None:
    """Why no class may be called this; None: it may."""
    if not name.strip():
        return "the name is empty"
    if len(name) > LONGEST_NAME:
        return f"the name has more than {LONGEST_NAME} characters"
    if any(category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name):
        return "control characters and line breaks are not allowed"
    return None


def import_key(source: str, key: str) -> str:
    """What the drill of a class is called; the same class of the same source has the same."""
    return f"{source}/{sha256(key.encode(errors='surrogatepass')).hexdigest()[:32]}"


def doubled(rows: Sequence[ClassRow]) -> list[ClassFault]:
    """Classes that are in the file more than once."""
    first: dict[str, str] = {}
    return [
        ClassFault(row.place, f"it is the same class as {first[row.key]}; give each its own key")
        for row in rows
        if first.setdefault(row.key, row.place) != row.place
    ]


def planned(row: ClassRow, scenario: ScenarioId) -> DrillPlan:
    """The drill that it asks for; raises `DrillInvalid`."""
    plan = DrillPlan(
        name=row.name,
        scenario=scenario,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        expected_trainees=row.expected_trainees,
        seats=row.seats,
        walk_ins=row.walk_ins,
        turns_in_flight=row.turns_in_flight,
    )
    return checked(plan)


def step(plan: DrillPlan, stored: Drill | None, new: Drill) -> ImportStep:
    """What becomes of the drill of a class that is held; `new` is the one to be made where none is stored."""
    if stored is None:
        return ImportStep(Change.ADDED, new)
    if stored.state is not DrillState.SCHEDULED:
        return ImportStep(Change.LEFT_ALONE, stored)
    if stored.plan == plan:
        return ImportStep(Change.UNCHANGED, stored)
    return ImportStep(Change.CHANGED, changed(stored, plan))


def called_off(stored: Drill | None) -> ImportStep | None:
    """What becomes of the drill of a class that is not held; None: nothing at all."""
    if stored is None:
        return None
    if stored.state is not DrillState.SCHEDULED:
        return ImportStep(Change.UNCHANGED, stored)
    return ImportStep(Change.CANCELLED, ended(stored, DrillEvent.CANCEL))


def vanished(coming: Sequence[Drill], named: Sequence[str]) -> list[ImportStep]:
    """Those that the file does not name any more, cancelled."""
    known = set(named)
    return [
        ImportStep(Change.CANCELLED, ended(drill, DrillEvent.CANCEL))
        for drill in coming
        if drill.import_key not in known
    ]
