"""The answer to a caller who waits for the whole turn instead of reading its stream."""

import asyncio
from contextlib import aclosing
from typing import assert_never

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from gateway.api.answers import answer, problem_answer
from gateway.api.lost_client import ClientGone, until_gone
from gateway.api.request_services import services_of
from gateway.api.turn_stream import turn_headers
from gateway.api.views import TurnView
from gateway.errors import JournalUnavailable
from gateway.problems import failed_turn
from gateway.turn_reader import TurnReader
from sessions.domain.events import Blocked, Cancelled, Done, Failed, Terminal
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer


async def whole_turn(request: Request, viewer: Viewer, session: SessionId, reader: TurnReader) -> Response:
    """Wait for the end: a turn that was completed, cancelled or blocked is shown, one that failed is a problem.

    Raises `ClientGone`, or `JournalUnavailable` where the turn can be followed no further from here.
    """
    headers = turn_headers(reader)
    match await _unless_gone(reader, request.receive):
        case Done(turn):
            return answer(TurnView.of(turn, shows_findings=viewer.sees_all), headers=headers)
        case Cancelled() | Blocked():
            turn = await services_of(request).use.read_turn(viewer, session, reader.number)
            return answer(TurnView.of(turn, shows_findings=viewer.sees_all), headers=headers)
        case Failed(error):
            problem = failed_turn(reader.number, error.code, error.message, retryable=error.retryable)
            return problem_answer(problem, headers=headers)
        case None:
            raise JournalUnavailable
        case never:
            assert_never(never)


async def _unless_gone(reader: TurnReader, receive: Receive) -> Terminal | None:
    """The client who waits is a reader of the turn; one who has gone is none."""
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(_end(reader))
        listening = tasks.create_task(until_gone(receive))
        await asyncio.wait((waiting, listening), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        listening.cancel()
    if waiting.cancelled():
        raise ClientGone
    return waiting.result()


async def _end(reader: TurnReader) -> Terminal | None:
    async with aclosing(reader.events()) as events:
        async for _, event in events:
            if isinstance(event, Terminal):
                return event
    return None
