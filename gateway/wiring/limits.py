"""Whoever counts, and what is counted of a turn."""

from collections.abc import Awaitable, Callable

from gateway.adapters.open_gate import OpenGate
from gateway.current_limits import CurrentLimits
from gateway.domain.limits import Claim
from gateway.limit_ports import EffectiveLimits, Gate
from gateway.settings import Settings
from gateway.turn_admission import TurnAdmission
from gateway.use_cases import UseCases
from sessions.use_cases.prepare_turn import TurnOrder


def limits(settings: Settings) -> tuple[Gate, EffectiveLimits]:
    return OpenGate(), CurrentLimits(settings.limits)


def turn_admission(use: UseCases, gate: Gate, limits: EffectiveLimits) -> TurnAdmission:
    return TurnAdmission(take_turn=use.take_turn, gate=gate, claims=_claims(limits))


def _claims(limits: EffectiveLimits) -> Callable[[TurnOrder], Awaitable[Claim]]:
    async def claim(order: TurnOrder) -> Claim:
        tenant, account = order.viewer.tenant, order.viewer.account
        return Claim(tenant, account, await limits.of_account(tenant, account), session=order.session)

    return claim
