"""Many drills at once out of a real Postgres, as a gateway puts them together."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import AnyHttpUrl

from gateway.settings import ModelSettings, Settings
from gateway.wiring.drills import many_drills
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.settings import FleetSettings, PoolSettings
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.domain.class_rows import Change, ClassFile, ClassRow
from sessions.domain.series import Rhythm, SeriesPlan
from sessions.use_cases.import_drills import ImportOrder
from tests.support.drill_world import plan
from tests.support.fleet_ledger import leading_ledger
from tests.support.records_fixture import write_scenarios
from tests.support.records_world import CONTENT, ELSEWHERE, HERE, settle

MODEL = "org/tutor"
POOL = PoolSettings(model=MODEL, seats_per_replica=10, maximum=4, starts_at_once=1, safety=1.0)


@pytest.mark.postgres
async def test_classes_are_scheduled_imported_and_weighed_against_the_fleet(database_url: str, tmp_path: Path) -> None:
    engine = postgres_engine(database_url)
    await settle(engine)
    records = PostgresRecords(engine=engine)
    await write_scenarios(records)
    settings = Settings(
        database_url=database_url,
        redis_url="redis://127.0.0.1:1/0",
        model=ModelSettings(name=MODEL, folder=tmp_path, window_tokens=4096),
        router_url=AnyHttpUrl("http://127.0.0.1:1"),
        fleet=FleetSettings(pools=(POOL,)),
    )
    drills = many_drills(settings, engine, records)
    begins = (datetime.now(UTC) + timedelta(minutes=3)).replace(microsecond=0)
    row = ClassRow("line 2", "a", "A", begins, begins + timedelta(hours=1), CONTENT.title, 20)
    theirs = ClassRow("line 2", "a", "B", begins, begins + timedelta(hours=1), CONTENT.title, 30)
    for people, one in ((HERE, row), (ELSEWHERE, theirs)):
        taken = await drills.import_file(ImportOrder(people.teacher, "spring", ClassFile((one,))))
        again = await drills.import_file(ImportOrder(people.teacher, "spring", ClassFile((one,))))
        assert ([each.change for each in taken], [each.change for each in again]) == (
            [Change.ADDED],
            [Change.UNCHANGED],
        )
    (mine,) = await drills.import_file(ImportOrder(HERE.teacher, "spring", ClassFile((row,))))
    async with leading_ledger(engine, database_url) as ledger:
        for _ in range(5):
            await ledger.tell(PoolName(MODEL), PastStart(0.0, 120.0, went_warm=True))
    told = (await drills.strain_for(HERE.teacher, [mine.drill]))[mine.drill.id]
    assert told.overlaps == []
    assert told.strain.text == "needs 5 replicas, the pool allows 4; replicas take about 4 min, the bell is in 2"

    series, classes = await drills.create_series(
        HERE.teacher, SeriesPlan(Rhythm("0 9 * * *", "Europe/Berlin", 45), plan(walk_ins=0, seats=None), count=400)
    )
    assert await drills.read_series(HERE.teacher, series.id) == (series, classes)
    strains = await drills.strain_for(HERE.teacher, classes)
    assert len(strains) == 400
    assert await drills.strain_for(HERE.as_trainee(), classes) == {}
    await engine.dispose()
