"""An answer as one body, which says nothing before everything is said."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import Send

from loadtests.simulator.breakage import (
    ConnectionCut,
    compact,
    false_usage,
    fault_of,
    stand_in,
    with_broken_utf8,
)
from loadtests.simulator.domain.faults import Fault, FaultKind
from loadtests.simulator.domain.figures import Figures
from loadtests.simulator.domain.wire import Document, Head, Kind, Piece, Usage, chat_message, completion_text
from loadtests.simulator.errors import engine_failed
from loadtests.simulator.logprobs import prompt_logprobs
from loadtests.simulator.reading import Reading, whole
from loadtests.simulator.runner import EngineDead

_MANY = 1_000_000  # bytes that a cut answer promises and never sends


class WholeBody:
    def __init__(self, *, head: Head, reading: Reading, faults: Sequence[Fault]) -> None:
        self._head = head
        self._reading = reading
        self._ask = reading.ask
        self._faults = faults

    async def response(self, send: Send, *, load_format: str) -> Response:
        pieces = await self._pieces()
        await self._break(send)
        choices = [self._choice(piece) for piece in pieces]
        tail = self._prompt_facts() if self._ask.kind is Kind.CHAT else {}
        body = compact(self._head.body(choices, self._counted(), self._reading.moments, **tail))
        if self._has(FaultKind.BROKEN_UTF8):
            body = with_broken_utf8(body)
        headers = _load_header(self._reading.replica.runner.snapshot(), load_format)
        record = self._reading.record
        record.outcome = record.outcome or pieces[0].finish_reason
        return Response(body, headers=headers, media_type="application/json")

    async def _pieces(self) -> list[Piece]:
        said: dict[int, list[Piece]] = {choice.index: [] for choice in self._ask.choices}
        try:
            async for piece in self._reading.pieces():
                said[piece.index].append(piece)
        except EngineDead as error:
            raise engine_failed() from error
        return [whole(pieces) for pieces in said.values()]

    async def _break(self, send: Send) -> None:
        """A fault that ends a stream early leaves nothing to put into one body."""
        record = self._reading.record
        if self._has(FaultKind.STALL):
            record.outcome = FaultKind.STALL
            await asyncio.Event().wait()
        if self._has(FaultKind.ERROR):
            record.outcome = FaultKind.ERROR
            raise engine_failed()
        if self._has(FaultKind.CUT):
            record.outcome = FaultKind.CUT
            headers = [(b"content-type", b"application/json"), (b"content-length", str(_MANY).encode())]
            await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
            await send({"type": "http.response.body", "body": b"{", "more_body": True})
            raise ConnectionCut

    def _choice(self, piece: Piece) -> Document:
        shown = replace(piece, text=self._ask.echo + piece.text)
        if self._has(FaultKind.ABORT):
            shown = replace(shown, text="", finish_reason="abort", stop_reason=None)
        if self._has(FaultKind.NO_FINISH):
            shown = replace(shown, finish_reason=None, stop_reason=None)
        if self._has(FaultKind.BROKEN_UTF8):
            shown = stand_in(shown)
        if self._ask.kind is Kind.CHAT:
            return chat_message(shown, role=self._ask.role)
        return completion_text(shown)

    def _prompt_facts(self) -> dict[str, object]:
        ask, vocabulary = self._ask, self._reading.replica.model.vocabulary
        return {
            "prompt_logprobs": prompt_logprobs(ask.prompt, vocabulary) if ask.shows_prompt_logprobs else None,
            "prompt_token_ids": ask.prompt if ask.body.return_token_ids else None,
            "prompt_text": None,
        }

    def _counted(self) -> Usage:
        usage = self._reading.usage
        return false_usage(usage) if self._has(FaultKind.WRONG_USAGE) else usage

    def _has(self, kind: FaultKind) -> bool:
        return fault_of(self._faults, kind) is not None


def _load_header(figures: Figures, wanted: str) -> dict[str, str]:
    """How loaded the engine is, for a request that asks for it."""
    waiting, usage = float(figures.waiting), figures.kv_usage
    match wanted.lower():
        case "json":
            named = f'{{"num_requests_waiting": {waiting}, "kv_cache_usage_perc": {usage}}}'
            return {"endpoint-load-metrics": f'JSON {{"named_metrics": {named}}}'}
        case "text":
            told = f"named_metrics.num_requests_waiting={waiting}, named_metrics.kv_cache_usage_perc={usage}"
            return {"endpoint-load-metrics": f"TEXT {told}"}
        case _:
            return {}
