"""Knows the outline of a training: what a tutor has to say in it, what it must not, and what a session made of it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sessions.domain.moderation import NOTHING_FOUND, Action, Direction, Judgement, Mark, Source
from sessions.errors import ScenarioInvalid

MAX_POINTS = 40
MAX_PHRASES = 20
LONGEST_NAME = 64
CATEGORY = "outline"
_SEVERITY = 2


class PointKind(StrEnum):
    REQUIRED = "required"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Point:
    """A talking point, which a reply makes by any of its phrases."""

    name: str
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    required: tuple[Point, ...] = ()
    forbidden: tuple[Point, ...] = ()

    @property
    def points(self) -> tuple[Point, ...]:
        return self.required + self.forbidden

    def of_kind(self, kind: PointKind) -> tuple[Point, ...]:
        return self.required if kind is PointKind.REQUIRED else self.forbidden


NO_OUTLINE = Outline()


@dataclass(frozen=True, slots=True)
class PointReport:
    kind: PointKind
    name: str
    turns: tuple[int, ...]
    """The turns whose replies made it, by number."""

    @property
    def made(self) -> bool:
        return bool(self.turns)


@dataclass(frozen=True, slots=True)
class OutlineReport:
    points: tuple[PointReport, ...]

    @property
    def required_total(self) -> int:
        return len(self._of(PointKind.REQUIRED))

    @property
    def required_made(self) -> int:
        return sum(point.made for point in self._of(PointKind.REQUIRED))

    @property
    def forbidden_made(self) -> int:
        return sum(point.made for point in self._of(PointKind.FORBIDDEN))

    @property
    def compliant(self) -> bool:
        return self.required_made == self.required_total and not self.forbidden_made

    def _of(self, kind: PointKind) -> Sequence[PointReport]:
        return [point for point in self.points if point.kind is kind]


def check_outline(outline: Outline) -> None:
    """Raises `ScenarioInvalid` with the field. Whether a phrase can be read is asked where it comes in."""
    names = [point.name for point in outline.points]
    if len(names) > MAX_POINTS:
        raise ScenarioInvalid("outline", f"an outline has at most {MAX_POINTS} points, this one {len(names)}")
    if len(set(names)) != len(names):
        raise ScenarioInvalid("outline", "two points have the same name")
    for kind in PointKind:
        for at, point in enumerate(outline.of_kind(kind)):
            _check_point(f"outline.{kind}.{at}", point)


def judged(outline: Outline, made: Collection[str]) -> Judgement:
    """What there is to say of a reply that made these points: a forbidden one is for a person to look at."""
    if not made:
        return NOTHING_FOUND
    marks = tuple(
        Mark(Direction.OUTPUT, Source.OUTLINE, point.name, CATEGORY, _SEVERITY, Action.FLAG)
        for point in outline.forbidden
        if point.name in made
    )
    return Judgement(marks=marks, points=tuple(point.name for point in outline.points if point.name in made))


def reported(outline: Outline, turns: Iterable[tuple[int, Collection[str]]]) -> OutlineReport:
    """Of a session whose turns, by number, made these points."""
    played = list(turns)
    return OutlineReport(
        tuple(
            PointReport(kind, point.name, tuple(number for number, made in played if point.name in made))
            for kind in PointKind
            for point in outline.of_kind(kind)
        )
    )


def _check_point(field: str, point: Point) -> None:
    if not (0 < len(point.name) <= LONGEST_NAME and point.name.isprintable() and point.name.strip()):
        raise ScenarioInvalid(f"{field}.name", f"a name has 1 to {LONGEST_NAME} printable characters")
    if not 1 <= len(point.phrases) <= MAX_PHRASES:
        raise ScenarioInvalid(
            f"{field}.phrases", f"a point has 1 to {MAX_PHRASES} phrases, this one {len(point.phrases)}"
        )
