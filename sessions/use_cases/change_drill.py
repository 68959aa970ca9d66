"""Change the plan of a drill, or end it; sessions that run keep their seats."""

from sessions.domain.drill import Drill, DrillEvent, DrillId, DrillPlan, changed, ended
from sessions.domain.viewer import Viewer
from sessions.drill_ports import Drills
from sessions.ports import Records
from sessions.use_cases.read_drill import known_drill
from sessions.use_cases.read_scenario import known_scenario


class ChangeDrill:
    def __init__(self, *, records: Records, drills: Drills) -> None:
        self._records = records
        self._drills = drills

    async def __call__(self, author: Viewer, drill: DrillId, plan: DrillPlan) -> Drill:
        """Raises `DrillNotFound`, `DrillInvalid`, `ScenarioNotFound`, `IllegalTransition` or `DrillMoved`."""
        planned = changed(await known_drill(self._drills, author.tenant, drill), plan)
        async with self._records.begin() as work:
            await known_scenario(work, author.tenant, plan.scenario)
        await self._drills.advance(planned)
        return planned


class EndDrill:
    def __init__(self, *, drills: Drills) -> None:
        self._drills = drills

    async def __call__(self, author: Viewer, drill: DrillId, event: DrillEvent) -> Drill:
        """Cancel or archive it, twice is nothing; raises `DrillNotFound`, `IllegalTransition` or `DrillMoved`."""
        found = await known_drill(self._drills, author.tenant, drill)
        over = ended(found, event)
        if over is not found:
            await self._drills.advance(over)
        return over
