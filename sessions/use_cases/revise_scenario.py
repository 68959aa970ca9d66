"""Write the next version of a scenario; running sessions keep theirs."""

from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.viewer import Viewer
from sessions.ports import Clock, Records
from sessions.use_cases.check_scenario import CheckScenario


class ReviseScenario:
    def __init__(self, *, records: Records, check: CheckScenario, clock: Clock) -> None:
        self._records = records
        self._check = check
        self._clock = clock

    async def __call__(self, author: Viewer, scenario: ScenarioId, content: ScenarioContent) -> Scenario:
        """Raises `ScenarioNotFound` or `ScenarioInvalid`."""
        sound = await self._check(author, content, scenario)
        async with self._records.begin() as work:
            return await work.scenarios.add_version(
                author.tenant, scenario, sound, by=author.account, at=self._clock.now()
            )
