"""Turns without limits."""

from gateway.adapters.open_gate import OpenGate
from gateway.domain.limits import AccountLimits, Claim
from gateway.turn_admission import TurnAdmission
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.take_turn import TakeTurn


async def _claim(order: TurnOrder) -> Claim:
    return Claim(order.viewer.tenant, order.viewer.account, AccountLimits(), session=order.session)


def unlimited(take_turn: TakeTurn) -> TurnAdmission:
    return TurnAdmission(take_turn=take_turn, gate=OpenGate(), claims=_claim)
