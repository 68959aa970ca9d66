"""A whole answer and how it is sent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from router.http.asgi import Send

Plain = None | bool | int | float | str | Sequence["Plain"] | Mapping[str, "Plain"]
"""What JSON can say."""

JSON = b"application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    content_type: bytes = JSON


def told(value: Plain, *, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"))


async def send_answer(send: Send, answer: Answer, *, request_id: bytes | None = None) -> None:
    headers = [(b"content-length", b"%d" % len(answer.body)), *answer.headers]
    if answer.body:
        headers.append((b"content-type", answer.content_type))
    if request_id is not None:
        headers.append((b"x-request-id", request_id))
    if answer.status == 204:  # noqa: PLR2004 - it has no body, so no length either
        del headers[0]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
