"""Breaks a stream as its faults say: silence, a cut, an error object, broken bytes, false counts."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace

from loadtests.simulator.domain.faults import Fault, FaultKind
from loadtests.simulator.domain.wire import DONE, Head, Piece, Usage
from loadtests.simulator.errors import ENGINE_DIED

_ENDING = frozenset({FaultKind.STALL, FaultKind.CUT, FaultKind.ERROR, FaultKind.NO_FINISH, FaultKind.ABORT})
_NO_UTF8 = b"\xc3(\xff"
_STAND_IN = "\x1a"
_FALSE_TOKENS = 1_000_000


class ConnectionCut(Exception):
    """Raised inside an answer that has begun, upon which the server closes the connection without an end."""


@dataclass(frozen=True, slots=True)
class Said:
    """Bytes of a stream; `is_text` when they are a chunk that carries a piece of the reply."""

    data: bytes
    is_text: bool = False


def compact(document: object) -> bytes:
    """JSON as vLLM writes it; half a character cannot break it."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def event(document: object) -> bytes:
    return b"data: " + compact(document) + b"\n\n"


def fault_of(faults: Sequence[Fault], kind: FaultKind) -> Fault | None:
    return next((fault for fault in faults if fault.kind is kind), None)


def error_event() -> bytes:
    """With spaces, unlike every other event: it is written by another part of vLLM."""
    error = {"message": ENGINE_DIED, "type": "InternalServerError", "param": None, "code": 500}
    return b"data: " + json.dumps({"error": error}).encode() + b"\n\n"


def false_usage(usage: Usage) -> Usage:
    """Counts that cannot be: more than any window holds, and none for the prompt."""
    return replace(usage, prompt_tokens=0, completion_tokens=usage.completion_tokens + _FALSE_TOKENS)


def breaks_utf8(faults: Sequence[Fault], text_chunks: int) -> bool:
    return any(fault.kind is FaultKind.BROKEN_UTF8 and fault.after_chunks == text_chunks for fault in faults)


def with_broken_utf8(written: bytes) -> bytes:
    """`written` with the stand-in in it."""
    return written.replace(json.dumps(_STAND_IN)[1:-1].encode(), _NO_UTF8)


def stand_in(piece: Piece) -> Piece:
    return replace(piece, text=_STAND_IN)


async def broken(said: AsyncIterator[Said], faults: Sequence[Fault], head: Head) -> AsyncGenerator[bytes | Fault, None]:
    """The stream up to the place where the first fault ends it, that fault, and what comes then."""
    ending = min((f for f in faults if f.kind in _ENDING), key=lambda f: f.after_chunks, default=None)
    chopped = next((fault.bytes_per_write for fault in faults if fault.kind is FaultKind.CHOPPED), 0)
    texts = 0
    async for each in said:
        if each.is_text:
            if ending is not None and texts == ending.after_chunks:
                yield ending
                async for data in _end(ending, head):
                    yield data
                return
            texts += 1
        for data in _chopped(each.data, chopped):
            yield data


async def _end(fault: Fault, head: Head) -> AsyncGenerator[bytes, None]:
    match fault.kind:
        case FaultKind.STALL:
            await asyncio.Event().wait()
        case FaultKind.CUT:
            raise ConnectionCut
        case FaultKind.ERROR:
            yield error_event()
        case FaultKind.ABORT:
            piece = Piece(index=0, text="", finish_reason="abort")
            yield event(head.text_chunk(piece, usage=None, is_last=True))
        case _:
            pass
    yield DONE


def _chopped(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)] if size else [data]
