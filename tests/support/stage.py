"""One open session of one trainee on memory, ready to be played."""

from dataclasses import dataclass

from gateway.use_cases import Outside, UseCases, use_cases
from sessions.adapters.memory_drills import MemoryDrills
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.scenario import Scenario
from sessions.domain.session import Session
from sessions.domain.turn import IdempotencyKey, Turn
from sessions.domain.viewer import Viewer
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.start_session import SessionOrder
from tests.support.counted_seats import CountedSeats
from tests.support.moderated import moderation
from tests.support.session_fakes import (
    FakeClock,
    FakeTiers,
    FakeTutor,
    FragileRecords,
    OpenLock,
    content,
    viewer,
    writers,
)


@dataclass
class Stage:
    records: FragileRecords
    tutor: FakeTutor
    clock: FakeClock
    outside: Outside
    use: UseCases
    author: Viewer
    trainee: Viewer
    tiers: FakeTiers
    scenario: Scenario
    session: Session

    def order(self, text: str = "Good morning.", key: IdempotencyKey | None = None) -> TurnOrder:
        return TurnOrder(self.trainee, self.session.id, text, key)

    async def play(self, text: str = "Good morning.", key: IdempotencyKey | None = None) -> Turn:
        async with self.use.take_turn.begin(self.order(text, key)) as turn:
            return await turn.run(lambda _: None)

    async def turns(self) -> list[Turn]:
        async with self.records.begin() as work:
            return list(await work.turns.all(self.session.id))


async def staged(*models: str, **changes: object) -> Stage:
    """A stage with these models, the default one first, whose scenario differs from the usual one in these fields."""
    records, clock, tutor, trainee = FragileRecords(), FakeClock(), FakeTutor(), viewer()
    tiers = FakeTiers(models or ("fake",))
    outside = Outside(
        records=records,
        lock=OpenLock(),
        tutor=tutor,
        clock=clock,
        working_sets=MemoryWorkingSets(),
        tiers=tiers,
        writers=writers(*models),
        catalogue=MemoryKnowledge(),
        drills=MemoryDrills(),
        seats=CountedSeats(),
        moderation=moderation(),
    )
    use = use_cases(outside)
    author = viewer(tenant=trainee.tenant, sees_all=True)
    scenario = await use.create_scenario(author, content(**changes))
    session = await use.start_session(SessionOrder(trainee, scenario.id, {}))
    return Stage(records, tutor, clock, outside, use, author, trainee, tiers, scenario, session)
