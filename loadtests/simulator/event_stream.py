"""An answer as server-sent events: role, text, finish, usage, [DONE], and comments while nothing is said."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from http import HTTPStatus

from starlette.types import Send

from loadtests.simulator.breakage import (
    Said,
    breaks_utf8,
    broken,
    error_event,
    event,
    false_usage,
    fault_of,
    stand_in,
    with_broken_utf8,
)
from loadtests.simulator.domain.faults import Fault, FaultKind
from loadtests.simulator.domain.wire import DONE, KEEP_ALIVE, Head, Kind, Piece, Usage
from loadtests.simulator.reading import Reading
from loadtests.simulator.runner import EngineDead

_EVENT_STREAM = b"text/event-stream; charset=utf-8"


class EventStream:
    def __init__(self, *, head: Head, reading: Reading, faults: Sequence[Fault]) -> None:
        self._head = head
        self._reading = reading
        self._ask = reading.ask
        self._record = reading.record
        self._faults = faults
        options = reading.replica.options
        forced = options.enable_force_include_usage
        self._includes_usage = forced or self._ask.includes_usage
        # Counting in every chunk is asked for in vain by who does not ask for usage.
        self._counts_always = forced or (self._ask.includes_usage and self._ask.counts_always)
        self._keep_alive_s = reading.replica.real_s(options.sse_keep_alive_interval_s)

    async def write(self, send: Send) -> None:
        headers = [(b"content-type", _EVENT_STREAM)]
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
        if self._keep_alive_s:
            await self._write_kept_alive(send)
        else:
            await self._write_all(send, asyncio.Event())
        await send({"type": "http.response.body", "body": b""})

    async def _write_all(self, send: Send, spoke: asyncio.Event) -> None:
        async with aclosing(self._said()) as said, aclosing(broken(said, self._faults, self._head)) as stream:
            async for data in stream:
                if isinstance(data, Fault):
                    self._record.outcome = data.kind
                    continue
                spoke.set()
                await send({"type": "http.response.body", "body": data, "more_body": True})

    async def _write_kept_alive(self, send: Send) -> None:
        spoke = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            comments = group.create_task(self._comment(send, spoke))
            await self._write_all(send, spoke)
            comments.cancel()

    async def _comment(self, send: Send, spoke: asyncio.Event) -> None:
        """A comment whenever nothing was said for a while, so that nobody in between gives up."""
        while True:
            spoke.clear()
            await asyncio.sleep(self._keep_alive_s)
            if not spoke.is_set():
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})

    async def _said(self) -> AsyncGenerator[Said, None]:
        """All events; the engine's death is one of them."""
        texts = 0
        try:
            async with aclosing(self._reading.pieces(tokens_each=self._ask.body.stream_interval or 1)) as pieces:
                async for piece in pieces:
                    if texts == 0:
                        for opening in self._opening():
                            yield opening
                    yield self._text(piece, broken_here=breaks_utf8(self._faults, texts))
                    texts += 1
            if self._includes_usage:
                chunk = self._head.usage_chunk(self._counted(), self._reading.moments)
                yield Said(event(chunk))
        except EngineDead:
            self._record.outcome = "failed"
            yield Said(error_event())
        yield Said(DONE)

    def _text(self, piece: Piece, *, broken_here: bool) -> Said:
        if self._ask.echo and piece.prompt_token_ids is not None:
            # A completion's echo rides with its first token.
            piece = replace(piece, text=self._ask.echo + piece.text)
        usage = self._counted() if self._counts_always else None
        shown = stand_in(piece) if broken_here else piece
        written = event(self._head.text_chunk(shown, usage=usage, is_last=not self._includes_usage))
        self._record.outcome = self._record.outcome or piece.finish_reason
        return Said(with_broken_utf8(written) if broken_here else written, is_text=True)

    def _opening(self) -> list[Said]:
        """The role chunks, which leave with the first token, and the text that is continued, if it is to be echoed."""
        opening: list[Said] = []
        if self._ask.kind is Kind.CHAT:
            shown = self._ask.prompt if self._ask.body.return_token_ids else None
            for choice in self._ask.choices:
                usage = Usage(prompt_tokens=len(choice.prompt), completion_tokens=0) if self._counts_always else None
                role = self._head.role_chunk(
                    index=choice.index, role=self._ask.role, prompt_token_ids=shown, usage=usage
                )
                opening.append(Said(event(role)))
            if self._ask.echo:
                echoes = (self._head.echo_chunk(index=each.index, text=self._ask.echo) for each in self._ask.choices)
                opening += [Said(event(echo)) for echo in echoes]
        return opening

    def _counted(self) -> Usage:
        usage = self._reading.usage
        return usage if fault_of(self._faults, FaultKind.WRONG_USAGE) is None else false_usage(usage)
