"""The answer to a caller who waits for the whole turn instead of reading its stream."""

from typing import assert_never

from starlette.responses import Response

from gateway.api.answers import answer, problem_answer
from gateway.api.turn_stream import turn_headers
from gateway.api.views import TurnView
from gateway.problems import failed_turn
from gateway.running_turns import TurnReader
from gateway.services import Services
from sessions.domain.events import Cancelled, Done, Failed, Terminal
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.errors import TutorBroke


async def whole_turn(services: Services, viewer: Viewer, session: SessionId, reader: TurnReader) -> Response:
    """Wait for the end: a turn that was completed or cancelled is shown, one that failed is a problem."""
    headers = turn_headers(reader)
    match await _end(reader):
        case Done(turn):
            return answer(TurnView.of(turn), headers=headers)
        case Cancelled():
            turn = await services.use.read_turn(viewer, session, reader.number)
            return answer(TurnView.of(turn), headers=headers)
        case Failed(error):
            problem = failed_turn(reader.number, error.code, error.message, retryable=error.retryable)
            return problem_answer(problem, headers=headers)
        case never:
            assert_never(never)


async def _end(reader: TurnReader) -> Terminal:
    async for _, event in reader.events():
        if isinstance(event, Done | Cancelled | Failed):
            return event
    raise TutorBroke("the turn's events ended without an end")
