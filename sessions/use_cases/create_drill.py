"""Schedule a drill."""

from uuid import uuid4

from sessions.domain.drill import Drill, DrillId, DrillPlan, checked
from sessions.domain.viewer import Viewer
from sessions.drill_ports import Drills
from sessions.ports import Clock, Records
from sessions.use_cases.read_scenario import known_scenario


class CreateDrill:
    def __init__(self, *, records: Records, drills: Drills, clock: Clock) -> None:
        self._records = records
        self._drills = drills
        self._clock = clock

    async def __call__(self, author: Viewer, plan: DrillPlan) -> Drill:
        """Raises `DrillInvalid` or `ScenarioNotFound`."""
        drill = Drill(
            id=DrillId(uuid4()),
            tenant=author.tenant,
            plan=checked(plan),
            created_by=author.account,
            created_at=self._clock.now(),
        )
        async with self._records.begin() as work:
            await known_scenario(work, author.tenant, plan.scenario)
        await self._drills.add(drill)
        return drill
