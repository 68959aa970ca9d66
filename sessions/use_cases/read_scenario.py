"""Read one version of a scenario, or the latest of each."""

from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.session import Session
from sessions.domain.viewer import TenantId, Viewer
from sessions.errors import ScenarioNotFound
from sessions.ports import Records, UnitOfWork


async def known_scenario(
    work: UnitOfWork, tenant: TenantId, scenario: ScenarioId, version: int | None = None
) -> Scenario:
    """The scenario inside a transaction, the latest version by default; raises `ScenarioNotFound`."""
    found = await work.scenarios.get(tenant, scenario, version)
    if found is None:
        raise ScenarioNotFound("there is no such scenario")
    return found


async def known_content(records: Records, session: Session) -> ScenarioContent:
    """What the session plays; raises `ScenarioNotFound`."""
    found = await records.content(session.tenant, session.scenario, session.scenario_version)
    if found is None:
        raise ScenarioNotFound("there is no such scenario")
    return found


class ReadScenario:
    def __init__(self, *, records: Records) -> None:
        self._records = records

    async def __call__(self, viewer: Viewer, scenario: ScenarioId, version: int | None = None) -> Scenario:
        """The latest version by default; raises `ScenarioNotFound`."""
        async with self._records.begin() as work:
            return await known_scenario(work, viewer.tenant, scenario, version)


class ListScenarios:
    def __init__(self, *, records: Records) -> None:
        self._records = records

    async def __call__(self, viewer: Viewer, limit: int, after: Cursor | None = None) -> Page[Scenario]:
        async with self._records.begin() as work:
            return await work.scenarios.list(viewer.tenant, limit=limit, after=after)
