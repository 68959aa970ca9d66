"""Turns without limits."""

from dataclasses import dataclass, field

from typing_extensions import override

from gateway.domain.limits import AccountLimits, Claim
from gateway.turn_admission import Claims, TurnAdmission
from sessions.domain.session import SessionId
from sessions.domain.turn import Usage
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.take_turn import TakeTurn
from tests.support.open_gate import OpenGate


@dataclass
class OpenClaims(Claims):
    learned: list[tuple[SessionId, Usage]] = field(default_factory=list)

    @override
    async def __call__(self, order: TurnOrder) -> Claim:
        return Claim(order.viewer.tenant, order.viewer.account, AccountLimits(), session=order.session)

    @override
    def learn(self, session: SessionId, used: Usage) -> None:
        self.learned.append((session, used))


def unlimited(take_turn: TakeTurn) -> TurnAdmission:
    return TurnAdmission(take_turn=take_turn, gate=OpenGate(), claims=OpenClaims())
