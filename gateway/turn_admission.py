"""The limits around a turn: what it may come to need is taken before it begins, and settled by what it really used."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.domain.limits import Claim, Spent, Standing
from gateway.limit_ports import Gate
from sessions.domain.session import SessionId
from sessions.domain.turn import Turn, Usage
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.take_turn import BegunTurn, TakeTurn


@dataclass(frozen=True, slots=True)
class AdmittedTurn:
    turn: BegunTurn
    standing: tuple[Standing, ...]
    """What is left of the account's quotas, for the headers."""


class Claims(Protocol):
    """Says what turns are to be counted as."""

    async def __call__(self, order: TurnOrder) -> Claim:
        """Raises `SessionNotFound`."""

    def learn(self, session: SessionId, used: Usage) -> None:
        """What a turn of the session came to, for the guess at its next one."""


class TurnAdmission:
    """`TakeTurn` behind the gate."""

    def __init__(self, *, take_turn: TakeTurn, gate: Gate, claims: Claims) -> None:
        self._take = take_turn
        self._gate = gate
        self._claims = claims

    async def earlier(self, order: TurnOrder) -> Turn | None:
        """The finished turn that this order asked for before, which is free; see `TakeTurn.earlier`."""
        return await self._take.earlier(order)

    @asynccontextmanager
    async def begin(self, order: TurnOrder) -> AsyncIterator[AdmittedTurn]:
        """Raises what `Gate.admit` and `TakeTurn.begin` raise; what was taken is then given back, all of it."""
        async with (
            self._gate.admit(await self._claims(order)) as admission,
            self._take.begin(replace(order, lease=admission.lease)) as turn,
        ):
            try:
                yield AdmittedTurn(turn, admission.standing)
            finally:
                used = turn.used
                admission.settle(Spent(used.prompt_tokens, used.completion_tokens))
                if used != Usage():  # of a message that nobody was shown nothing can be learnt
                    self._claims.learn(order.session, used)
