"""One open session of one trainee on memory, ready to be played."""

from dataclasses import dataclass

from gateway.use_cases import UseCases, use_cases
from sessions.domain.scenario import Scenario
from sessions.domain.session import Session
from sessions.domain.turn import IdempotencyKey, Turn
from sessions.domain.viewer import Viewer
from sessions.use_cases.start_session import SessionOrder
from sessions.use_cases.take_turn import TurnOrder
from tests.support.session_fakes import FakeClock, FakeTutor, FragileRecords, OpenLock, content, viewer, writer


@dataclass
class Stage:
    records: FragileRecords
    tutor: FakeTutor
    clock: FakeClock
    use: UseCases
    author: Viewer
    trainee: Viewer
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


async def staged(**changes: object) -> Stage:
    """A stage whose scenario differs from the usual one in these fields."""
    records, clock, tutor, trainee = FragileRecords(), FakeClock(), FakeTutor(), viewer()
    use = use_cases(records=records, lock=OpenLock(), tutor=tutor, writer=writer(), clock=clock)
    author = viewer(tenant=trainee.tenant, sees_all=True)
    scenario = await use.create_scenario(author, content(**changes))
    session = await use.start_session(SessionOrder(trainee, scenario.id, {}))
    return Stage(records, tutor, clock, use, author, trainee, scenario, session)
