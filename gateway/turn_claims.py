"""What a turn is counted as before it has run.

Its message is taken for half as many tokens as it has characters, which is too many for English and about right for
Chinese. To that comes what the session's last turn in this process was shown and said, or else the setting. The reply
is taken for as long as it may be. All of it is settled at the turn's end, so a guess costs nothing but a little room.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from gateway.brief_memory import BriefMemory
from gateway.domain.limits import Claim, DrillLimits
from gateway.drill_seats import drill_limits
from gateway.limit_ports import EffectiveLimits
from sessions.domain.drill import DrillId
from sessions.domain.session import SessionId
from sessions.domain.turn import Usage
from sessions.domain.viewer import TenantId
from sessions.drill_ports import Drills
from sessions.errors import RecordsUnavailable
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.read_session import ReadSession

_MOST_REMEMBERED = 10_000
_CHARACTERS_PER_TOKEN = 2


@dataclass(frozen=True, slots=True)
class Guesses:
    prompt_tokens: int
    """Of a session of which nothing better is known."""
    reply_tokens: int
    cache_s: float
    """How old what is known of a drill may be."""


@dataclass(frozen=True, slots=True)
class _Known:
    drill: DrillId | None
    tokens: int


class TurnClaims:
    def __init__(
        self,
        *,
        read_session: ReadSession,
        drills: Drills,
        limits: EffectiveLimits,
        guesses: Guesses,
        clock: Callable[[], float],
    ) -> None:
        self._read_session = read_session
        self._drills = drills
        self._limits = limits
        self._guesses = guesses
        self._known: OrderedDict[SessionId, _Known] = OrderedDict()
        self._drill_limits: BriefMemory[tuple[TenantId, DrillId], DrillLimits] = BriefMemory(
            ask=self._ask, otherwise=DrillLimits(), ttl_s=guesses.cache_s, clock=clock
        )

    async def __call__(self, order: TurnOrder) -> Claim:
        """Raises `SessionNotFound`. While the database is away, a session that this process has not seen counts to no
        drill.
        """
        viewer, known = order.viewer, await self._of(order)
        of_drill = DrillLimits()
        if known.drill is not None:
            of_drill = await self._drill_limits.get((viewer.tenant, known.drill))
        return Claim(
            tenant=viewer.tenant,
            account=viewer.account,
            limits=await self._limits.of_account(viewer.tenant, viewer.account),
            input_tokens=known.tokens + len(order.text) // _CHARACTERS_PER_TOKEN,
            output_tokens=self._guesses.reply_tokens,
            session=order.session,
            drill=known.drill,
            drill_limits=of_drill,
        )

    def learn(self, session: SessionId, used: Usage) -> None:
        """The next prompt begins with this turn's, and with its reply."""
        known = self._known.get(session)
        if known is not None:
            self._known[session] = replace(known, tokens=used.prompt_tokens + used.completion_tokens)

    async def _of(self, order: TurnOrder) -> _Known:
        known = self._known.get(order.session)
        if known is None:
            try:
                session = await self._read_session(order.viewer, order.session)
            except RecordsUnavailable:  # whether the turn goes on without them is for others to say
                return _Known(None, self._guesses.prompt_tokens)
            known = self._known[order.session] = _Known(session.drill, self._guesses.prompt_tokens)
            if len(self._known) > _MOST_REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(order.session)
        return known

    async def _ask(self, key: tuple[TenantId, DrillId]) -> DrillLimits:
        return drill_limits(await self._drills.get(*key))
