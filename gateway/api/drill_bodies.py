"""What callers may send about many drills at once."""

import re
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.api.ids import scenario_id_of
from gateway.api.requests import Line, Moment, PageQuery, Sent
from gateway.domain.rfc3339 import moment_of
from sessions.domain.class_rows import RowDefaults
from sessions.domain.drill import MAX_PEOPLE, DrillPlan
from sessions.domain.series import LONGEST_CLASS_MINUTES, Rhythm, SeriesPlan

_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _day(value: str) -> str:
    _date(value)
    return value


def _date(value: str) -> date:
    if not _DAY.fullmatch(value):
        raise ValueError("a day is written as 2026-03-01")
    return date.fromisoformat(value)


Day = Annotated[str, Field(max_length=10, json_schema_extra={"format": "date"}), AfterValidator(_day)]
ZoneName = Annotated[str, Field(max_length=64, description="of the time zone database, such as Europe/Berlin")]


class DrillSeriesBody(Sent):
    """Classes that repeat; `until` or `count` ends them."""

    name: Line
    scenario_id: str
    cron: str = Field(max_length=100, description="minute, hour, day, month, day of the week: 0 9 * * MON")
    timezone: ZoneName
    minutes: int = Field(description="how long each class is")
    first_day: Day | None = Field(default=None, description="in that time zone; null: from now on")
    until: Day | None = Field(default=None, description="the last day")
    count: int | None = Field(default=None, description="how many classes")
    expected_trainees: int
    seats: int | None = Field(default=None, description="sessions that capacity never refuses a turn; null: all")
    walk_ins: int = Field(default=0, description="sessions that may come beyond the seats")
    turns_in_flight: int | None = Field(default=None, description="while so many turns run, those of walk-ins wait")

    def plan(self, now: datetime) -> SeriesPlan:
        """Raises `ScenarioNotFound` for what could not be a scenario's id."""
        like = DrillPlan(
            name=self.name,
            scenario=scenario_id_of(self.scenario_id),
            starts_at=now,
            ends_at=now,
            expected_trainees=self.expected_trainees,
            seats=self.seats,
            walk_ins=self.walk_ins,
            turns_in_flight=self.turns_in_flight,
        )
        return SeriesPlan(
            rhythm=Rhythm(self.cron, self.timezone, self.minutes),
            like=like,
            first_day=_date(self.first_day) if self.first_day is not None else None,
            until=_date(self.until) if self.until is not None else None,
            count=self.count,
        )


class DrillsQuery(PageQuery):
    """With a span: those that touch it, by their start; without one: all of them, newest first."""

    since: Moment | None = Field(default=None, alias="from")
    until: Moment | None = Field(default=None, alias="to")

    def span(self) -> tuple[datetime, datetime] | None:
        if self.since is None and self.until is None:
            return None
        since, until = (moment_of(each) if each is not None else None for each in (self.since, self.until))
        return since or _FIRST, until or _LAST


class ImportQuery(BaseModel):
    """What holds for every class of the file that does not say it itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str = Field(
        default="import",
        max_length=64,
        pattern=r"^[A-Za-z0-9._-]+$",
        description="which file it is, when it is read again",
    )
    dry_run: bool = Field(default=False, description="only tell what would be done")
    prune: bool = Field(default=False, description="cancel those of this source to come that the file lacks")
    scenario: Line | None = Field(default=None, description="an id, or a whole title")
    trainees: int | None = Field(default=None, ge=1, le=MAX_PEOPLE)
    minutes: int | None = Field(default=None, ge=1, le=LONGEST_CLASS_MINUTES)
    timezone: ZoneName | None = None

    def defaults(self) -> RowDefaults:
        return RowDefaults(self.scenario, self.trainees, self.timezone, self.minutes)
