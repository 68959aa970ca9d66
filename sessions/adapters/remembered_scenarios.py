"""The scenario versions that this process has read lately; a version never changes."""

from collections import OrderedDict
from datetime import datetime

from typing_extensions import override

from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.viewer import AccountId, TenantId
from sessions.ports import Scenarios

_MOST = 1000

_Version = tuple[TenantId, ScenarioId, int]


class RememberedScenarios:
    def __init__(self) -> None:
        self._known: OrderedDict[_Version, Scenario] = OrderedDict()

    def keep(self, scenario: Scenario) -> None:
        version = scenario.tenant, scenario.id, scenario.version
        self._known[version] = scenario
        self._known.move_to_end(version)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)

    def get(self, tenant: TenantId, scenario: ScenarioId, version: int) -> Scenario | None:
        return self._known.get((tenant, scenario, version))

    def seeing(self, scenarios: Scenarios) -> Scenarios:
        """The same scenarios; what is read through them is remembered."""
        return _Seen(scenarios, self)


class _Seen(Scenarios):
    def __init__(self, scenarios: Scenarios, remembered: RememberedScenarios) -> None:
        self._scenarios = scenarios
        self._remembered = remembered

    @override
    async def add(self, scenario: Scenario) -> None:
        await self._scenarios.add(scenario)

    @override
    async def add_version(
        self, tenant: TenantId, scenario: ScenarioId, content: ScenarioContent, *, by: AccountId, at: datetime
    ) -> Scenario:
        return await self._scenarios.add_version(tenant, scenario, content, by=by, at=at)

    @override
    async def get(self, tenant: TenantId, scenario: ScenarioId, version: int | None = None) -> Scenario | None:
        found = await self._scenarios.get(tenant, scenario, version)
        if found is not None:
            self._remembered.keep(found)
        return found

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Scenario]:
        return await self._scenarios.list(tenant, limit=limit, after=after)
