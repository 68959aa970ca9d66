"""The classes of all tenants, out of the memory of the other stores; with the promises of the real one."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from typing_extensions import override

from sessions.adapters.memory_drills import MemoryDrills
from sessions.domain.class_calendar import TimedClass, Wishes
from sessions.domain.drill import Drill
from sessions.domain.scenario import ScenarioId
from sessions.domain.tiers import Tier
from sessions.domain.viewer import TenantId
from sessions.drill_ports import ClassCalendar
from sessions.ports import Records, TenantTiers


class MemoryClassCalendar(ClassCalendar):
    def __init__(self, *, drills: MemoryDrills, records: Records, tenants: TenantTiers) -> None:
        self._drills = drills
        self._records = records
        self._tenants = tenants

    @override
    async def between(self, since: datetime, until: datetime) -> Sequence[TimedClass]:
        touching = [drill for drill in self._drills.all() if _touches(drill, since, until)]
        found = []
        for drill in sorted(touching, key=lambda drill: (drill.plan.starts_at, drill.id)):
            wishes = await self.wishes(drill.tenant, [drill.plan.scenario])
            found += [TimedClass(drill, each) for each in wishes.values()]
        return found

    @override
    async def wishes(self, tenant: TenantId, of: Sequence[ScenarioId]) -> Mapping[ScenarioId, Wishes]:
        chosen, found = await self._tenants.of(tenant), {}
        async with self._records.begin(tenant) as work:
            for each in of:
                scenario = await work.scenarios.get(tenant, each)
                if scenario is not None:
                    content = scenario.content
                    found[each] = Wishes(content.tier_of(Tier.ROLE_PLAY), dict(content.tiers), chosen)
        return found


def _touches(drill: Drill, since: datetime, until: datetime) -> bool:
    return drill.plan.ends_at >= since and drill.plan.starts_at <= until
