"""Asks the tutor for a note, and for the warmth of what stands before the next message; nobody waits for either."""

import asyncio

from sessions.domain.session import SessionId
from sessions.domain.summary_text import without_cut
from sessions.ports import Piece, ReplyEnd, Tutor, TutorRequest
from sessions.use_cases.prepare_turn import asker_of
from sessions.use_cases.served_models import Serving
from sessions.use_cases.session_histories import Known
from sessions.written import Written


class NoteAsking:
    def __init__(self, *, tutor: Tutor, timeout_s: float) -> None:
        self._tutor = tutor
        self._timeout_s = timeout_s

    async def text(self, request: TutorRequest) -> str:
        """All that the tutor writes, without a sentence that was cut off.

        Raises `TutorError`, or `TimeoutError` when it takes too long.
        """
        pieces, is_cut = list[str](), False
        async with asyncio.timeout(self._timeout_s), self._tutor.reply(request) as reply:
            async for item in reply.items:
                if isinstance(item, Piece):
                    pieces.append(item.text)
                is_cut = isinstance(item, ReplyEnd) and item.finish_reason == "length"
        written = "".join(pieces)
        return without_cut(written) if is_cut else written

    async def warm(self, request: TutorRequest) -> None:
        await self._tutor.warm(request)

    async def forget(self, session: SessionId) -> None:
        await self._tutor.forget(session)


def background_request(known: Known, model: Serving, written: Written, name: str) -> TutorRequest:
    """A request in the name of the session's last turn."""
    session = known.session
    return TutorRequest(
        session=session.id,
        tenant=session.tenant,
        turn=session.turn_count,
        messages=written.prompt.messages,
        max_tokens=written.max_tokens,
        asker=asker_of(session, model.writer),
        last_replica=known.history.last_replica,
        model=model.chosen.model,
        name=name,
        is_background=True,
    )
