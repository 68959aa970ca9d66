"""For installations that name nobody to be told: the log, the metrics and the plan show what is amiss anyway."""

from typing_extensions import override

from router.fleet.domain.demand import PoolName
from router.fleet.domain.scaling import Alert
from router.fleet.ports import Alarm


class QuietAlarm(Alarm):
    @override
    async def short(self, pool: PoolName, alert: Alert) -> None:
        pass

    @override
    async def over(self, pool: PoolName, alert: Alert) -> None:
        pass
