"""Everything that comes before the tutor is asked: the session, its history, the model, the background, the prompt."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from sessions.domain.citation import NO_BACKGROUND, Background
from sessions.domain.compaction import Fold
from sessions.domain.history import History, with_note
from sessions.domain.moderation import Judgement
from sessions.domain.note import NoteMaker
from sessions.domain.scenario import ScenarioContent
from sessions.domain.session import Session, SessionId
from sessions.domain.summary_text import nothing_kept
from sessions.domain.tiers import Chosen, Tier
from sessions.domain.turn import IdempotencyKey, Turn
from sessions.domain.viewer import Viewer
from sessions.errors import SessionClosed, SessionMoved, TurnLimitReached
from sessions.moderation_ports import Moderation, Rules
from sessions.ports import Asker, FoundSession, KnowledgeSearch, Records, TutorRequest
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.censored_note import censored
from sessions.use_cases.note_book import CompactionOutcome, NoteBook, NoteDraft
from sessions.use_cases.read_scenario import known_content
from sessions.use_cases.read_session import seen_session
from sessions.use_cases.served_models import ServedModels
from sessions.use_cases.session_histories import Known, SessionHistories
from sessions.written import Written

_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class TurnOrder:
    viewer: Viewer
    session: SessionId
    text: str
    idempotency: IdempotencyKey | None = None
    trace_parent: str = ""
    """The W3C trace that the turn belongs to; empty: none."""
    lease: str = ""
    """The owner's token of the session's lease, where it was taken with the limits; empty: it is still to be taken."""


@dataclass(frozen=True, slots=True)
class CheckedMessage:
    """A message that may go on, masked where it must be; what was sent is not in here."""

    text: str
    judgement: Judgement
    rules: Rules
    """In force for the whole turn."""


@dataclass(frozen=True, slots=True)
class BlockedMessage:
    """A message that nobody may be shown; what was sent is not in here."""

    session: Session
    history: History
    chosen: Chosen
    """The model that would have been asked."""
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn that may be asked for."""

    session: Session
    content: ScenarioContent
    history: History
    chosen: Chosen
    writer: PromptWriter
    message: CheckedMessage
    background: Background
    text_tokens: int
    written: Written

    def request(self, *, trace_parent: str) -> TutorRequest:
        return TutorRequest(
            session=self.session.id,
            tenant=self.session.tenant,
            turn=self.session.next_turn,
            messages=self.written.prompt.messages,
            max_tokens=self.written.max_tokens,
            asker=asker_of(self.session, self.writer),
            last_replica=self.history.last_replica,
            trace_parent=trace_parent,
            model=self.chosen.model,
        )

    def is_fold_due(self, after: History) -> bool:
        """Whether the history with this turn in it should be folded while the trainee thinks."""
        return (
            self.writer.due(self.session, self.content, after) is not None
            or self.writer.merge_due(self.content, after) is not None
        )


class TurnPreparation:
    def __init__(
        self,
        *,
        records: Records,
        histories: SessionHistories,
        models: ServedModels,
        notes: NoteBook,
        knowledge: KnowledgeSearch | None,
        moderation: Moderation,
    ) -> None:
        self._records = records
        self._histories = histories
        self._models = models
        self._notes = notes
        self._knowledge = knowledge
        self._moderation = moderation

    async def earlier(self, order: TurnOrder) -> Turn | None:
        """The finished turn that this order asked for before, by its key.

        A turn that failed and may be tried again is none. Raises `SessionNotFound` or `IdempotencyKeyReused`.
        """
        return _earlier(order, (await self._seen(order)).turn)

    async def has_stand_in(self, turn: PreparedTurn, *, lost: Collection[str]) -> bool:
        """Whether another model may serve the turn, now that these were asked in vain; raises `PoolUnavailable` where
        none ever may.
        """
        chosen, _ = await self._models.choose(Tier.ROLE_PLAY, turn.session.tenant, turn.content, lost=lost)
        return chosen.model not in lost

    async def __call__(self, order: TurnOrder) -> PreparedTurn | BlockedMessage:
        """To be called by who holds the session's lease.

        Raises `SessionNotFound`, `SessionClosed`, `SessionMoved`, `TurnLimitReached`, `TextEmpty`, `TextTooLong`,
        `PoolUnavailable`, `ModerationUnavailable` or `RecordsUnavailable`.
        """
        known = await self._known(order)
        chosen, writer = await self._models.choose(Tier.ROLE_PLAY, known.session.tenant, known.content)
        writer.message_tokens(order.text)  # what is too long is not even read
        rules = await self._moderation.rules(known.session.tenant, known.session.scenario)
        found = await rules.message(order.text)
        if found.blocked is not None:
            return BlockedMessage(known.session, known.history, chosen, found.judgement)
        message = CheckedMessage(found.text, found.judgement, rules)
        return await self._prepared(known, chosen, writer, replace(order, text=message.text), message)

    async def elsewhere(self, order: TurnOrder, turn: PreparedTurn, *, lost: Collection[str]) -> PreparedTurn:
        """The turn for another model, now that these were asked in vain; its message is checked already.

        Raises as the call does.
        """
        order = replace(order, text=turn.message.text)
        known = await self._known(order)
        chosen, writer = await self._models.choose(Tier.ROLE_PLAY, known.session.tenant, known.content, lost=lost)
        return await self._prepared(known, chosen, writer, order, turn.message)

    async def _prepared(
        self, known: Known, chosen: Chosen, writer: PromptWriter, order: TurnOrder, message: CheckedMessage
    ) -> PreparedTurn:
        """`order` is for the text as it was checked."""
        text_tokens = writer.message_tokens(order.text)
        known = await self._with_room(known, writer, order, message.rules)
        session, content, history = known.session, known.content, known.history
        background = await self._background(known, writer, message)
        return PreparedTurn(
            session=session,
            content=content,
            history=history,
            chosen=chosen,
            writer=writer,
            message=message,
            background=background,
            text_tokens=text_tokens,
            written=writer.write(session, content, history, order.text, background),
        )

    async def _known(self, order: TurnOrder) -> Known:
        found = await self._seen(order)
        session = found.session
        if not session.is_open:
            raise SessionClosed("the session is closed")
        if _earlier(order, found.turn) is not None:
            raise SessionMoved("a turn with this idempotency key has just ended")
        history = await self._histories.before_a_turn(session)  # at once, before the row is old
        content = await known_content(self._records, session)
        if history.played >= content.max_turns:
            raise TurnLimitReached(content.max_turns)
        return Known(session, content, history)

    async def _seen(self, order: TurnOrder) -> FoundSession:
        """The session, with what was played in it under the order's key."""
        key = None if order.idempotency is None else order.idempotency.key
        return await seen_session(self._records, order.viewer, order.session, key)

    async def _with_room(self, known: Known, writer: PromptWriter, order: TurnOrder, rules: Rules) -> Known:
        """Fold at once what must make room for the message: the trainee waits for no model.

        A note that came first, made in think time by whichever process, may have made the room already.
        """
        for _ in range(_ATTEMPTS):
            fold = writer.overdue(known.session, known.content, known.history, order.text)
            if fold is None:
                return known
            try:
                return await self._folded(known, writer, fold, rules)
            except SessionMoved:
                known = await self._known(order)
        raise SessionMoved("notes of the session are written faster than they are read")

    async def _folded(self, known: Known, writer: PromptWriter, fold: Fold, rules: Rules) -> Known:
        turns = await self._histories.turns(known.session, fold.from_turn, fold.to_turn)
        limit = writer.note_limit(known.history, fold)
        extract = writer.notes.extract(known.content, turns, limit=limit)
        allowed = await censored(rules, extract, fits=lambda kept: writer.count(kept) <= limit)
        text = allowed if allowed.strip() else nothing_kept(turns, known.content.locale)
        draft = NoteDraft(
            fold.from_turn, fold.to_turn, text, writer.count(text), NoteMaker.EXTRACT, CompactionOutcome.EXTRACTED
        )
        note = await self._notes.add(known.session, draft)
        return Known(replace(known.session, note_count=note.seq), known.content, with_note(known.history, note))

    async def _background(self, known: Known, writer: PromptWriter, message: CheckedMessage) -> Background:
        base = known.content.knowledge_base
        if base is None or self._knowledge is None:
            return NO_BACKGROUND
        room = writer.knowledge_room(known.session, known.content, known.history, message.text)
        if room < 1:
            return NO_BACKGROUND
        return await self._knowledge.find(
            known.session.tenant, base, message.text, budget_tokens=room, rules=message.rules
        )


def asker_of(session: Session, writer: PromptWriter) -> Asker:
    drill = "" if session.drill is None else str(session.drill)
    return Asker(session.scenario, session.scenario_version, session.trainee, writer.window_tokens, drill)


def _earlier(order: TurnOrder, turn: Turn | None) -> Turn | None:
    if order.idempotency is None or turn is None or turn.idempotency is None:
        return None
    if not order.idempotency.repeats(turn.idempotency):
        return None
    return None if turn.error is not None and turn.error.retryable else turn
