"""The limits around the start of a session: it is a request of its account, and takes a seat."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.domain.limits import Claim, Spent, Standing
from gateway.limit_ports import EffectiveLimits, Gate
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import Session
from sessions.domain.viewer import TenantId
from sessions.use_cases.start_session import SessionOrder, StartSession


@dataclass(frozen=True, slots=True)
class AdmittedSession:
    session: Session
    standing: tuple[Standing, ...] = ()
    """What is left of the account's quotas; nothing for a session that was there already."""


def nobody_expects(_tenant: TenantId, _scenario: ScenarioId) -> None:
    """Nothing has to be made ready."""


class SessionAdmission:
    """`StartSession` behind the gate."""

    def __init__(
        self,
        *,
        start: StartSession,
        gate: Gate,
        limits: EffectiveLimits,
        expect: Callable[[TenantId, ScenarioId], None] = nobody_expects,
    ) -> None:
        """`expect` hears whose first turn is to come, and in which scenario."""
        self._start = start
        self._expect = expect
        self._gate = gate
        self._limits = limits

    async def __call__(self, order: SessionOrder) -> AdmittedSession:
        """Raises what `Gate.admit` and `StartSession` raise; a session that is not started has cost nothing."""
        earlier = await self._start.earlier(order)
        if earlier is not None:
            return AdmittedSession(earlier)
        tenant, account = order.viewer.tenant, order.viewer.account
        claim = Claim(tenant, account, await self._limits.of_account(tenant, account))
        async with self._gate.admit(claim) as admission:
            started = await self._start.started(order)
            if not started.is_new:  # asked for at the same time under the same key: one of them pays
                return AdmittedSession(started.session)
            admission.settle(Spent(0, 0))
        self._expect(started.session.tenant, started.session.scenario)
        return AdmittedSession(started.session, admission.standing)
