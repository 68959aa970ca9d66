"""Compact a session while its trainee thinks: old turns become notes, and the shorter prompt is made warm.

Nothing depends on it: without a note the tail grows on, and at the hard cap an extract takes over. After an attempt
that failed the tail grows by a few turns before the next one.
"""

from collections.abc import Sequence
from contextlib import suppress

from sessions.domain.compaction import Fold, Merge
from sessions.domain.history import with_note
from sessions.domain.note import NoteMaker
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.domain.turn import Turn
from sessions.domain.viewer import Viewer
from sessions.errors import ModerationUnavailable, SessionMoved, TutorError
from sessions.moderation_ports import Moderation, Rules
from sessions.use_cases.ask_for_note import NoteAsking, background_request
from sessions.use_cases.censored_note import censored
from sessions.use_cases.note_book import CompactionOutcome, NoteBook, NoteDraft
from sessions.use_cases.note_pauses import NotePauses
from sessions.use_cases.served_models import ServedModels, Serving
from sessions.use_cases.session_histories import Known, SessionHistories
from sessions.written import Written


class _Blocked(Exception):
    """Moderation stops what the tutor wrote."""


class CompactSession:
    def __init__(
        self,
        *,
        histories: SessionHistories,
        models: ServedModels,
        notes: NoteBook,
        asking: NoteAsking,
        moderation: Moderation,
    ) -> None:
        self._histories = histories
        self._models = models
        self._notes = notes
        self._asking = asking
        self._moderation = moderation
        self._pauses = NotePauses()

    async def __call__(self, viewer: Viewer, session: SessionId) -> None:
        """Safe at any time, beside turns and in several processes at once; raises `SessionNotFound` or
        `RecordsUnavailable`."""
        nothing_is_left = await self._noted_all(viewer, session)
        known = await self._histories.known(viewer, session)
        if not known.session.is_open:
            # It was closed meanwhile, and what was asked since may have pinned it anew.
            self._pauses.forget(session)
            await self._asking.forget(session)
        elif nothing_is_left:
            await self._make_warm(known)

    async def _noted_all(self, viewer: Viewer, session: SessionId) -> bool:
        """Whether all that was due was written."""
        for step in (self._merge, self._fold, self._merge):
            known = await self._histories.known(viewer, session)
            if not known.session.is_open or not await step(known):
                return False
        return True

    async def _fold(self, known: Known) -> bool:
        """Whether nothing is left to fold."""
        own = await self._serving(Tier.ROLE_PLAY, known)
        fold = own.writer.due(known.session, known.content, known.history)
        if fold is None:
            return True
        return await self._noted(known, own, fold, CompactionOutcome.FOLDED)

    async def _merge(self, known: Known) -> bool:
        """Whether nothing is left to merge."""
        own = await self._serving(Tier.ROLE_PLAY, known)
        merge = own.writer.merge_due(known.content, known.history)
        if merge is None:
            return True
        return await self._noted(known, own, merge, CompactionOutcome.MERGED)

    async def _noted(self, known: Known, own: Serving, span: Fold | Merge, outcome: CompactionOutcome) -> bool:
        """Whether the note of these turns was written."""
        if self._pauses.holds_back(known.session.id, known.history):
            return False
        turns = await self._histories.turns(known.session, span.from_turn, span.to_turn)
        try:
            text = await self._text(known, own, span, turns)
        except TutorError:
            return self._failed(known, CompactionOutcome.UNANSWERED)
        except TimeoutError:
            return self._failed(known, CompactionOutcome.LATE)
        except ModerationUnavailable:
            return self._failed(known, CompactionOutcome.FAILED)
        if not text:
            return self._failed(known, CompactionOutcome.UNUSABLE)
        draft = NoteDraft(span.from_turn, span.to_turn, text, own.writer.count(text), NoteMaker.TUTOR, outcome)
        await self._warm_ahead(known, own, draft)
        try:
            await self._notes.add(known.session, draft)
        except SessionMoved:
            return False
        self._pauses.forget(known.session.id)
        return True

    async def _text(self, known: Known, own: Serving, span: Fold | Merge, turns: Sequence[Turn]) -> str:
        """The note as it may stand; empty where what the tutor wrote is of no use."""
        limit = own.writer.note_limit(known.history, span)
        try:
            text = own.writer.notes.text(turns, await self._told(known, own, span, turns), limit=limit)
        except _Blocked:
            text = None
        if text is None:
            return ""
        return await censored(await self._rules(known), text, fits=lambda kept: own.writer.count(kept) <= limit)

    async def _warm_ahead(self, known: Known, own: Serving, draft: NoteDraft) -> None:
        """Have the prompt computed that the note will make, before a turn can be sent it: a trainee who leaves no
        time to think shall not wait for it either. A note whose prompt cannot be warm is better than none.
        """
        history = with_note(known.history, self._notes.note(known.session, draft))
        prefix = own.writer.prefix(known.session, known.content, history)
        with suppress(TutorError, TimeoutError):
            await self._asking.text(background_request(known, own, prefix, "warm"))

    async def _told(self, known: Known, own: Serving, span: Fold | Merge, turns: Sequence[Turn]) -> str:
        """What the tutor writes of the turns. Its own live prompt is warm where the session plays, and nowhere else."""
        model = await self._serving(Tier.SUMMARY, known)
        if isinstance(span, Fold) and model.chosen.model == own.chosen.model:
            written = own.writer.notes.request(known.session, known.content, known.history, span)
            return await self._ask(known, own, written, "note")
        return await self._in_layers(known, model, turns)

    async def _in_layers(self, known: Known, model: Serving, turns: Sequence[Turn]) -> str:
        """As many pieces as the window needs, and then one of what was written of them; always from the turns
        themselves, never from earlier notes."""
        pieces = model.writer.notes.pieces(known.content, turns)
        told = [await self._ask(known, model, piece, f"piece-{number}") for number, piece in enumerate(pieces, 1)]
        joined = model.writer.notes.joining(known.content, told)
        return "\n".join(told) if joined is None else await self._ask(known, model, joined, "joined")

    async def _ask(self, known: Known, model: Serving, written: Written, name: str) -> str:
        text = await self._asking.text(background_request(known, model, written, name))
        found = await (await self._rules(known)).written(text)
        if found.blocked is not None:
            raise _Blocked
        return text  # masks come last: here they would be taken for emphasis

    async def _rules(self, known: Known) -> Rules:
        """Those of now: while the tutor wrote, others may have come into force."""
        return await self._moderation.rules(known.session.tenant, known.session.scenario)

    async def _make_warm(self, known: Known) -> None:
        own = await self._serving(Tier.ROLE_PLAY, known)
        prefix = own.writer.prefix(known.session, known.content, known.history)
        await self._asking.warm(background_request(known, own, prefix, "warm"))

    async def _serving(self, tier: Tier, known: Known) -> Serving:
        return await self._models.choose(tier, known.session.tenant, known.content)

    def _failed(self, known: Known, outcome: CompactionOutcome) -> bool:
        self._notes.tell(outcome)
        self._pauses.begin(known.session.id, known.history)
        return False
