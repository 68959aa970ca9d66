"""A trainee who speaks HTTP over a bare socket and keeps the history, without any of the load drills' own reading."""

import asyncio
import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainTurn:
    """Instants are of the wall clock."""

    planned_at: float
    sent_at: float
    text_at: tuple[float, ...]
    """When each chunk with text was there."""
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int

    @property
    def ttft_s(self) -> float:
        return self.text_at[0] - self.sent_at


async def play(
    url: str, *, model: str, session: str, lines: Sequence[tuple[float, str]], reply_tokens: int
) -> list[PlainTurn]:
    """Say each line at its instant of the wall clock, or as soon as the reply before it has ended."""
    history: list[dict[str, str]] = []
    turns = []
    for planned_at, words in lines:
        await asyncio.sleep(max(0.0, planned_at - time.time()))
        history.append({"role": "user", "content": words})
        body = {
            "model": model,
            "messages": history,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": reply_tokens,
        }
        turn, reply = await _take(url, json.dumps(body).encode(), session=session, planned_at=planned_at)
        history.append({"role": "assistant", "content": reply})
        turns.append(turn)
    return turns


async def _take(url: str, body: bytes, *, session: str, planned_at: float) -> tuple[PlainTurn, str]:
    host, port = urlsplit(url).hostname or "", urlsplit(url).port or 80
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nX-Session-ID: {session}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    sent_at = time.time()
    reader, writer = await asyncio.open_connection(sock=socket.create_connection((host, port)))
    writer.write(head.encode() + body)
    status = await reader.readline()
    assert b" 200 " in status, status
    stamped = [(time.time(), line) async for line in reader if line.startswith(b"data: {")]
    writer.close()
    await writer.wait_closed()
    events = [(at, json.loads(line.removeprefix(b"data: "))) for at, line in stamped]
    pieces = [(at, str(each["choices"][0]["delta"].get("content") or "")) for at, each in events if each["choices"]]
    usage = next(each["usage"] for _, each in reversed(events) if each.get("usage"))
    turn = PlainTurn(
        planned_at=planned_at,
        sent_at=sent_at,
        text_at=tuple(at for at, piece in pieces if piece),
        prompt_tokens=usage["prompt_tokens"],
        cached_tokens=usage["prompt_tokens_details"]["cached_tokens"],
        completion_tokens=usage["completion_tokens"],
    )
    return turn, "".join(piece for _, piece in pieces)
