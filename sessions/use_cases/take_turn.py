"""Take one turn: the trainee's message in, the tutor's reply out.

Everything that can be refused is refused on entering; what happens after that is `open_turn.py`'s.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from sessions.domain.history import History, history
from sessions.domain.scenario import ScenarioContent
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import IdempotencyKey, Turn
from sessions.domain.viewer import Viewer
from sessions.errors import SessionClosed, SessionMoved, TurnLimitReached
from sessions.ports import Asker, Clock, Records, TurnLock, Tutor, TutorRequest, UnitOfWork
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.open_turn import OpenTurn, TurnDraft
from sessions.use_cases.read_scenario import known_scenario
from sessions.use_cases.read_session import visible_session


@dataclass(frozen=True, slots=True)
class TurnOrder:
    viewer: Viewer
    session: SessionId
    text: str
    idempotency: IdempotencyKey | None = None
    trace_parent: str = ""
    """The W3C trace that the turn belongs to; empty: none."""


@dataclass(frozen=True, slots=True)
class _Start:
    """What the session was when the turn began."""

    session: Session
    content: ScenarioContent
    history: History

    @property
    def last_replica(self) -> str | None:
        return self.history.last_replica

    def asker(self, *, window_tokens: int) -> Asker:
        return Asker(self.session.scenario, self.session.scenario_version, self.session.trainee, window_tokens)


class TakeTurn:
    def __init__(self, *, records: Records, lock: TurnLock, tutor: Tutor, writer: PromptWriter, clock: Clock) -> None:
        self._records = records
        self._lock = lock
        self._tutor = tutor
        self._writer = writer
        self._clock = clock

    async def earlier(self, order: TurnOrder) -> Turn | None:
        """The finished turn that this order asked for before, by its key.

        A turn that failed and may be tried again is none. Raises `SessionNotFound` or `IdempotencyKeyReused`.
        """
        async with self._records.begin() as work:
            await visible_session(work, order.viewer, order.session)
            return await _earlier(work, order)

    @asynccontextmanager
    async def begin(self, order: TurnOrder) -> AsyncIterator[OpenTurn]:
        """Hold the session's lease, ask the tutor, and hand out the turn that has begun.

        Raises `SessionNotFound`, `SessionClosed`, `SessionBusy`, `SessionMoved`, `TurnLimitReached`, `TextEmpty`,
        `TextTooLong`, `TutorUnavailable` (or its kind `TutorFull`), `TutorRejected` or `RecordsUnavailable`.
        """
        accepted, started = self._clock.now(), self._clock.ticks()
        text_tokens = self._writer.message_tokens(order.text)
        async with AsyncExitStack() as held:
            await held.enter_async_context(self._lock.hold(order.session))
            start = await self._start(order)
            written = self._writer.write(start.session, start.content, start.history, order.text)
            request = TutorRequest(
                session=order.session,
                tenant=start.session.tenant,
                turn=start.session.next_turn,
                messages=written.prompt.messages,
                max_tokens=written.max_tokens,
                asker=start.asker(window_tokens=self._writer.window_tokens),
                last_replica=start.last_replica,
                trace_parent=order.trace_parent,
            )
            reply = await held.enter_async_context(self._tutor.reply(request))
            yield OpenTurn(
                draft=TurnDraft(
                    session=start.session,
                    text=order.text,
                    text_tokens=text_tokens,
                    prompt_tokens=written.prompt_tokens,
                    idempotency=order.idempotency,
                    accepted_at=accepted,
                    started=started,
                ),
                reply=reply,
                opened=self._clock.ticks(),
                records=self._records,
                count=self._writer.count,
                clock=self._clock,
            )

    async def _start(self, order: TurnOrder) -> _Start:
        async with self._records.begin() as work:
            session = await visible_session(work, order.viewer, order.session)
            if not session.is_open:
                raise SessionClosed("the session is closed")
            if await _earlier(work, order) is not None:
                raise SessionMoved("a turn with this idempotency key has just ended")
            scenario = await known_scenario(work, session.tenant, session.scenario, session.scenario_version)
            known = history(await work.notes.all(order.session), await work.turns.all(order.session))
        limit = scenario.content.max_turns
        if known.played >= limit:
            raise TurnLimitReached(limit)
        return _Start(session, scenario.content, known)


async def _earlier(work: UnitOfWork, order: TurnOrder) -> Turn | None:
    if order.idempotency is None:
        return None
    turn = await work.turns.by_key(order.session, order.idempotency.key)
    if turn is None or turn.idempotency is None or not order.idempotency.repeats(turn.idempotency):
        return None
    return None if turn.error is not None and turn.error.retryable else turn
