"""Create a scenario."""

from uuid import uuid4

from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.viewer import Viewer
from sessions.ports import Clock, Records
from sessions.use_cases.check_scenario import CheckScenario


class CreateScenario:
    def __init__(self, *, records: Records, check: CheckScenario, clock: Clock) -> None:
        self._records = records
        self._check = check
        self._clock = clock

    async def __call__(self, author: Viewer, content: ScenarioContent) -> Scenario:
        """Write version 1; raises `ScenarioInvalid`."""
        scenario = Scenario(
            id=ScenarioId(uuid4()),
            tenant=author.tenant,
            version=1,
            latest_version=1,
            content=await self._check(author, content),
            created_by=author.account,
            created_at=self._clock.now(),
        )
        async with self._records.begin() as work:
            await work.scenarios.add(scenario)
        return scenario
