"""Schedule classes that repeat, each as a drill of its own."""

from collections.abc import Sequence
from uuid import uuid4

from sessions.domain.drill import Drill, DrillId, SeriesId, checked
from sessions.domain.series import Series, SeriesPlan, class_plans
from sessions.domain.viewer import Viewer
from sessions.drill_ports import DrillBook
from sessions.ports import Clock, Records
from sessions.use_cases.read_scenario import known_scenario


class CreateSeries:
    def __init__(self, *, records: Records, book: DrillBook, clock: Clock) -> None:
        self._records = records
        self._book = book
        self._clock = clock

    async def __call__(self, author: Viewer, plan: SeriesPlan) -> tuple[Series, Sequence[Drill]]:
        """Raises `DrillInvalid` or `ScenarioNotFound`."""
        now = self._clock.now()
        plans = [checked(each) for each in class_plans(plan, now=now)]
        series = Series(
            id=SeriesId(uuid4()),
            tenant=author.tenant,
            rhythm=plan.rhythm,
            first_at=plans[0].starts_at,
            last_at=plans[-1].starts_at,
            created_by=author.account,
            created_at=now,
        )
        drills = [Drill(DrillId(uuid4()), author.tenant, each, author.account, now, series=series.id) for each in plans]
        async with self._records.begin() as work:
            await known_scenario(work, author.tenant, plan.like.scenario)
        await self._book.write(author.tenant, added=drills, of=series)
        return series, drills
