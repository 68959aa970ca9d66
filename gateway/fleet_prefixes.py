"""What the prompts of coming classes begin with, so that a replica has computed it before the bell.

It is what a trainee's first turn has before the trainee's words, byte for byte, asked for with the same salt: anything
else would be computed for nothing. It is people's words, and never logged.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from typing_extensions import override

from gateway.domain.cache_salt import cache_salt
from router.fleet.domain.demand import Booking, PoolName, current
from router.fleet.domain.warmth import Prefix
from router.fleet.ports import Prefixes
from sessions.domain.drill import Drill
from sessions.domain.scenario import Scenario
from sessions.drill_ports import ClassCalendar
from sessions.errors import RecordsUnavailable
from sessions.ports import Records
from sessions.prompt_writer import PromptWriter

MOST_SCENARIOS: Final = 8
"""A replica's cache holds the sessions too, and each takes its time."""


class ScenarioPrefixes(Prefixes):
    """`writers` and `template_arguments` are those that turns are asked with, by the model; other models have none."""

    def __init__(
        self,
        *,
        classes: ClassCalendar,
        records: Records,
        writers: Mapping[str, PromptWriter],
        template_arguments: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._classes = classes
        self._records = records
        self._writers = writers
        self._template_arguments = template_arguments

    @override
    async def of(self, pool: PoolName, bookings: Sequence[Booking]) -> Sequence[Prefix]:
        writer = self._writers.get(pool)
        coming = [booking for booking in current(bookings) if booking.pool == pool]
        if writer is None or not coming:
            return ()
        try:
            scenarios = await self._scenarios(await self._drills(coming))
        except RecordsUnavailable:
            return ()
        return [self._prefix(pool, writer, scenario) for scenario in scenarios]

    async def _drills(self, coming: Sequence[Booking]) -> Sequence[Drill]:
        """The bookings' drills, soonest bell first."""
        first, last = min(booking.begins for booking in coming), max(booking.ends for booking in coming)
        found = await self._classes.between(_moment(first), _moment(last))
        wanted = {str(booking.id) for booking in coming}
        drills = [each.drill for each in found if str(each.drill.id) in wanted]
        return sorted(drills, key=lambda drill: drill.plan.starts_at)

    async def _scenarios(self, drills: Iterable[Drill]) -> Sequence[Scenario]:
        """Each once, as sessions that begin now play it."""
        once = list(dict.fromkeys((drill.tenant, drill.plan.scenario) for drill in drills))[:MOST_SCENARIOS]
        found = []
        for tenant, scenario in once:
            async with self._records.begin(tenant) as work:
                found.append(await work.scenarios.get(tenant, scenario))
        return [scenario for scenario in found if scenario is not None]

    def _prefix(self, pool: PoolName, writer: PromptWriter, scenario: Scenario) -> Prefix:
        return Prefix(
            name=str(scenario.id),
            messages=[
                {"role": message.role.value, "content": message.content}
                for message in writer.beginning(scenario.content)
            ],
            cache_salt=cache_salt(scenario.tenant),
            template_arguments=self._template_arguments.get(pool, {}),
        )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
