"""Take the classes of a file over: all of them, or none and every reason why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from sessions.domain.class_rows import (
    Change,
    ClassFault,
    ClassFile,
    ImportStep,
    called_off,
    doubled,
    import_key,
    planned,
    step,
    vanished,
)
from sessions.domain.drill import Drill, DrillId, DrillPlan
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId, Viewer
from sessions.drill_ports import DrillBook
from sessions.errors import ClassFileInvalid, DrillInvalid
from sessions.ports import Clock, Records

_PAGE = 100
_MOST_PAGES = 20
_MOST_FAULTS = 100
_NOTHING_LEFT = "it holds no class, and prune would cancel all that came from it; cancel them by name if that is meant"


@dataclass(frozen=True, slots=True)
class ImportOrder:
    author: Viewer
    source: str
    """Which file it is, however often it is read."""
    file: ClassFile
    is_trial: bool = False
    """Only say what would be done."""
    prunes: bool = False
    """Cancel those of this source that are still to come and not in the file any more."""


class ImportDrills:
    def __init__(self, *, records: Records, book: DrillBook, clock: Clock) -> None:
        self._records = records
        self._book = book
        self._clock = clock

    async def __call__(self, order: ImportOrder) -> Sequence[ImportStep]:
        """What was done with each class, in the order of the file. Raises `ClassFileInvalid` or `DrillMoved`."""
        now, tenant = self._clock.now(), order.author.tenant
        if order.prunes and not (order.file.rows or order.file.faults):
            raise ClassFileInvalid([("the file", _NOTHING_LEFT)])
        plans = await self._plans(tenant, order.file)
        keys = [import_key(order.source, row.key) for row in order.file.rows]
        stored = {drill.import_key: drill for drill in await self._book.imported(tenant, keys)}
        steps = []
        for plan, key in zip(plans, keys, strict=True):
            known = stored.get(key)
            taken = called_off(known) if plan is None else step(plan, known, _new(order.author, plan, key, now))
            steps += [] if taken is None else [taken]
        if order.prunes:
            steps += vanished(await self._book.to_come(tenant, f"{order.source}/", after=now), keys)
        if not order.is_trial:
            await self._write(tenant, steps)
        return steps

    async def _write(self, tenant: TenantId, steps: Sequence[ImportStep]) -> None:
        added = [taken.drill for taken in steps if taken.change is Change.ADDED]
        advanced = [taken.drill for taken in steps if taken.change in (Change.CHANGED, Change.CANCELLED)]
        if added or advanced:
            await self._book.write(tenant, added=added, advanced=advanced)

    async def _plans(self, tenant: TenantId, file: ClassFile) -> Sequence[DrillPlan | None]:
        """Of each row, None: it is called off; raises `ClassFileInvalid` with everything that is wrong with the file.

        Who calls a class off need not say again what it was.
        """
        scenarios = await self._scenarios(tenant, {row.scenario for row in file.rows if not row.is_cancelled})
        faults = [*file.faults, *doubled(file.rows)]
        plans: list[DrillPlan | None] = []
        for row in file.rows:
            if row.is_cancelled:
                plans.append(None)
                continue
            found = scenarios.get(row.scenario, ())
            if len(found) != 1:
                named = "several scenarios have that title; give the id" if found else "there is no such scenario"
                faults.append(ClassFault(f"{row.place}, scenario", named))
                continue
            try:
                plans.append(planned(row, found[0]))
            except DrillInvalid as invalid:
                faults.append(ClassFault(f"{row.place}, {invalid.field}", invalid.detail))
        if len(faults) > _MOST_FAULTS:
            faults[_MOST_FAULTS:] = [ClassFault("the file", f"{len(faults) - _MOST_FAULTS} more faults")]
        if faults:
            raise ClassFileInvalid([(fault.place, fault.detail) for fault in faults])
        return plans

    async def _scenarios(self, tenant: TenantId, named: set[str]) -> Mapping[str, Sequence[ScenarioId]]:
        """Of each id or title that is there, whose it is."""
        found: dict[str, list[ScenarioId]] = {}
        after = None
        async with self._records.begin(tenant) as work:
            for _ in range(_MOST_PAGES if named else 0):
                page = await work.scenarios.list(tenant, limit=_PAGE, after=after)
                for scenario in page.items:
                    for name in {str(scenario.id), scenario.content.title} & named:
                        found.setdefault(name, []).append(scenario.id)
                if (after := page.next) is None:
                    break
        return found


def _new(author: Viewer, plan: DrillPlan, key: str, now: datetime) -> Drill:
    return Drill(DrillId(uuid4()), author.tenant, plan, author.account, now, import_key=key)
