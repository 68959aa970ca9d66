"""A file of classes is taken over whole, and can be read again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from sessions.adapters.memory_drill_book import MemoryDrillBook
from sessions.adapters.memory_drills import MemoryDrills
from sessions.domain.class_rows import Change, ClassFault, ClassFile, ClassRow
from sessions.domain.drill import DrillEvent, DrillState, ended
from sessions.domain.viewer import Viewer
from sessions.errors import ClassFileInvalid
from sessions.use_cases.import_drills import ImportDrills, ImportOrder
from tests.support.session_fakes import content, viewer
from tests.support.stage import Stage, staged


class Office:
    """Where files come in."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.drills = MemoryDrills()
        self._import = ImportDrills(records=stage.records, book=MemoryDrillBook(self.drills), clock=stage.clock)

    def row(self, number: int, **changes: object) -> ClassRow:
        begins = self.stage.clock.now().replace(microsecond=0) + timedelta(days=number)
        title = self.stage.scenario.content.title
        usual = ClassRow(
            f"line {number}", f"key {number}", f"class {number}", begins, begins + timedelta(hours=1), title, 9
        )
        return replace(usual, **changes)  # type: ignore[arg-type]  # fields by their names

    async def take(
        self, *rows: ClassRow, who: Viewer | None = None, source: str = "spring", **asked: bool
    ) -> list[Change]:
        order = ImportOrder(who or self.stage.author, source, ClassFile(rows), **asked)
        return [taken.change for taken in await self._import(order)]

    async def refused(self, rows: Sequence[ClassRow], faults: Sequence[ClassFault] = ()) -> list[tuple[str, str]]:
        before = self.drills.all()
        with pytest.raises(ClassFileInvalid) as refused:
            await self._import(ImportOrder(self.stage.author, "spring", ClassFile(tuple(rows), tuple(faults))))
        assert self.drills.all() == before
        return list(refused.value.faults)


@pytest.fixture
async def office() -> Office:
    return Office(await staged())


async def test_the_same_file_again_changes_nothing(office: Office) -> None:
    rows = [office.row(2), office.row(3, scenario=str(office.stage.scenario.id))]
    assert await office.take(*rows) == [Change.ADDED] * 2
    assert {drill.plan.scenario for drill in office.drills.all()} == {office.stage.scenario.id}
    stored = office.drills.all()
    assert await office.take(*rows) == [Change.UNCHANGED] * 2
    assert office.drills.all() == stored


async def test_a_row_that_has_changed_moves_its_drill(office: Office) -> None:
    row = office.row(2)
    await office.take(row)
    (before,) = office.drills.all()
    assert await office.take(replace(row, ends_at=row.ends_at + timedelta(hours=1))) == [Change.CHANGED]
    (after,) = office.drills.all()
    assert (after.id, after.version, after.plan.ends_at - after.plan.starts_at) == (before.id, 2, timedelta(hours=2))


async def test_a_class_called_off_is_cancelled_and_stays_so(office: Office) -> None:
    row = office.row(2)
    assert await office.take(replace(row, is_cancelled=True, ends_at=row.starts_at)) == []
    await office.take(row)
    assert await office.take(replace(row, is_cancelled=True, scenario="", name="")) == [Change.CANCELLED]
    assert await office.take(row) == [Change.LEFT_ALONE]
    assert [drill.state for drill in office.drills.all()] == [DrillState.CANCELLED]


async def test_what_has_vanished_is_cancelled_where_that_is_asked_for(office: Office) -> None:
    gone, kept, begun = office.row(2), office.row(3), office.row(-1, key="begun")
    await office.take(gone, kept, begun)
    await office.take(office.row(2), source="autumn")
    assert await office.take(kept) == [Change.UNCHANGED]
    assert await office.take(kept, prunes=True, is_trial=True) == [Change.UNCHANGED, Change.CANCELLED]
    assert await office.take(kept, prunes=True) == [Change.UNCHANGED, Change.CANCELLED]
    states = [(drill.plan.name, drill.state) for drill in office.drills.all()]
    assert states.count(("class 2", DrillState.CANCELLED)) == 1
    assert sum(state is DrillState.CANCELLED for _, state in states) == 1
    assert await office.take(kept, prunes=True) == [Change.UNCHANGED]


async def test_a_file_without_a_class_takes_nothing_with_it(office: Office) -> None:
    await office.take(office.row(2))
    with pytest.raises(ClassFileInvalid) as refused:
        await office.take(prunes=True)
    assert [place for place, _ in refused.value.faults] == ["the file"]
    assert [drill.state for drill in office.drills.all()] == [DrillState.SCHEDULED]
    assert await office.take() == []


async def test_a_trial_says_what_would_be_done_and_does_nothing(office: Office) -> None:
    assert await office.take(office.row(2), is_trial=True) == [Change.ADDED]
    assert office.drills.all() == ()


async def test_all_that_is_wrong_is_told_at_once_and_nothing_is_written(office: Office) -> None:
    second = await office.stage.use.create_scenario(office.stage.author, content())
    assert second.content.title == office.stage.scenario.content.title
    by_id = str(second.id)
    good = office.row(1, scenario=by_id)
    faults = await office.refused(
        [
            good,
            office.row(2),
            office.row(3, scenario="nowhere"),
            office.row(4, scenario=by_id, seats=0),
            office.row(5, scenario=by_id, key=good.key),
        ],
        [ClassFault("line 9, seats", "no number")],
    )
    assert faults == [
        ("line 9, seats", "no number"),
        ("line 5", "it is the same class as line 1; give each its own key"),
        ("line 2, scenario", "several scenarios have that title; give the id"),
        ("line 3, scenario", "there is no such scenario"),
        ("line 4, seats", "nobody could ever take part"),
    ]


async def test_each_tenant_has_its_own_drills_and_scenarios(office: Office) -> None:
    stranger = viewer(sees_all=True)
    with pytest.raises(ClassFileInvalid, match="1 fault"):
        await office.take(office.row(2), who=stranger)
    assert await office.take(who=stranger) == []


async def test_a_drill_that_was_archived_is_left_alone(office: Office) -> None:
    row = office.row(2)
    await office.take(row)
    (drill,) = office.drills.all()
    await office.drills.advance(ended(drill, DrillEvent.ARCHIVE))
    assert await office.take(replace(row, seats=3)) == [Change.LEFT_ALONE]
