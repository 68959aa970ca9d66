"""One answer to a chat or a completion: let in, computed, and told as a stream or as one body."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from loadtests.simulator.ask import Ask
from loadtests.simulator.breakage import compact, fault_of
from loadtests.simulator.client import while_connected
from loadtests.simulator.domain.faults import Fault, FaultKind
from loadtests.simulator.domain.wire import Head, error_body
from loadtests.simulator.errors import Refused, bad_request, busy
from loadtests.simulator.event_stream import EventStream
from loadtests.simulator.reading import Reading
from loadtests.simulator.recorder import Record
from loadtests.simulator.replica import Replica
from loadtests.simulator.whole_body import WholeBody


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A request that was understood, with the faults that hit it; `load_format` is how it asks for the load."""

    ask: Ask
    record: Record
    faults: Sequence[Fault]
    load_format: str


class Answer(Response):
    """A client that leaves takes its request with it."""

    def __init__(self, replica: Replica, taken: Taken) -> None:
        super().__init__()
        self._replica = replica
        self._taken = taken
        self._arrived_at = asyncio.get_running_loop().time()
        self._head = Head(
            kind=taken.ask.kind,
            id=taken.ask.kind.prefix + taken.record.request_id,
            created=int(time.time()),
            model=replica.model.name,
            fingerprint=replica.fingerprint,
            details=replica.options.enable_prompt_tokens_details,
        )

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        record = self._taken.record
        self._replica.in_flight += 1
        try:
            if not await while_connected(receive, self._serve(scope, receive, send)):
                record.outcome = record.outcome or "gone"
        finally:
            self._replica.in_flight -= 1

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = self._taken
        try:
            if (refusal := fault_of(taken.faults, FaultKind.REFUSE)) is not None:
                raise _refused(refusal.status)
            await self._replica.admit()
            reading = Reading(replica=self._replica, ask=taken.ask, record=taken.record, arrived_at=self._arrived_at)
            async with reading:
                if taken.ask.streams:
                    await EventStream(head=self._head, reading=reading, faults=taken.faults).write(send)
                else:
                    body = WholeBody(head=self._head, reading=reading, faults=taken.faults)
                    await (await body.response(send, load_format=taken.load_format))(scope, receive, send)
        except Refused as refused:
            taken.record.outcome = taken.record.outcome or str(refused.status)
            await refusal_answer(refused)(scope, receive, send)


class CompactJson(JSONResponse):
    """A body as vLLM writes it."""

    @override
    def render(self, content: object) -> bytes:
        return compact(content)


def refusal_answer(refused: Refused) -> Response:
    body = error_body(refused.status, refused.message, kind=refused.kind, param=refused.param)
    return CompactJson(body, status_code=refused.status)


def _refused(status: int) -> Refused:
    match status:
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return busy()
        case HTTPStatus.BAD_REQUEST:
            return bad_request("Refused as a script asks.")
        case _:
            # A gateway's own code, 499 or 529 say, has no name here.
            phrase = next((known.phrase for known in HTTPStatus if known == status), "Refused")
            kind = phrase.replace(" ", "").removesuffix("Error") + "Error"
            return Refused(phrase, status=status, kind=kind)
