"""What the events of one chat stream mean, and when such a stream counts as complete.

The order on the wire: chunks with text, one with a finish reason (which may carry the last text), one with the usage
and no choices, then `[DONE]`. `[DONE]` alone proves nothing: a dying server sends an error object and then `[DONE]`,
and an aborted request ends with the reason "abort". Whether there must be a usage the `Relay` has decided before.
"""

import json
from collections.abc import Mapping
from typing import NoReturn

from router.domain.exchange import Finished, FinishReason, StreamItem, TextPiece, Usage
from router.domain.fleet import ReplicaId
from router.errors import EngineBroke

DONE = "[DONE]"
_REASONS: Mapping[object, FinishReason] = {reason.value: reason for reason in FinishReason}


class EngineStream:
    """Feed it the data of each event in turn; it raises `EngineBroke` for everything a complete stream has not."""

    def __init__(self, *, replica: ReplicaId) -> None:
        self._replica = replica
        self._reason: FinishReason | None = None
        self._usage: Usage | None = None

    def feed(self, data: str) -> StreamItem | None:
        if data == DONE:
            return self._finished()
        chunk = self._chunk(data)
        if "error" in chunk:
            raise self._broke(f"the engine reported: {error_message(chunk)}")
        if (usage := chunk.get("usage")) is not None:
            self._usage = self._read_usage(usage)
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return None
        return self._read_choice(choices[0])

    def end(self) -> NoReturn:
        """The bytes ended before `[DONE]`."""
        raise self._broke("the stream was cut off")

    def _chunk(self, data: str) -> Mapping[str, object]:
        try:
            chunk: object = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._broke("an event is not JSON") from error
        if not isinstance(chunk, dict):
            raise self._broke("an event is not a JSON object")
        return chunk

    def _read_choice(self, choice: object) -> TextPiece | None:
        if not isinstance(choice, dict):
            raise self._broke("a choice is not an object")
        if (reason := choice.get("finish_reason")) is not None:
            self._reason = _REASONS.get(reason) if isinstance(reason, str) else None
            if self._reason is None:
                raise self._broke(f"the engine ended the reply with the reason {str(reason)[:40]!r}")
        delta = choice.get("delta")
        content = delta.get("content") if isinstance(delta, dict) else None
        text = storable(content) if isinstance(content, str) else ""
        return TextPiece(text) if text else None

    def _read_usage(self, usage: object) -> Usage:
        if not isinstance(usage, dict):
            raise self._broke("the usage is not an object")
        details = usage.get("prompt_tokens_details")
        # The details are null unless the server runs with --enable-prompt-tokens-details.
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        return Usage(
            prompt_tokens=self._count(usage.get("prompt_tokens")),
            cached_tokens=0 if cached is None else self._count(cached),
            completion_tokens=self._count(usage.get("completion_tokens")),
        )

    def _count(self, value: object) -> int:
        if not isinstance(value, int):
            raise self._broke("the usage has no such count")
        return value

    def _finished(self) -> Finished:
        if self._reason is None:
            raise self._broke("the stream ended without a finish reason")
        return Finished(self._reason, self._usage)

    def _broke(self, detail: str) -> EngineBroke:
        return EngineBroke(self._replica, detail)


def storable(text: str) -> str:
    """Without what the database or UTF-8 cannot hold: NUL is dropped, a lone surrogate becomes U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def error_message(body: object, *, limit: int = 200) -> str:
    """The engine's own words from an error body, in whichever of its three shapes.

    Only the first line, cut short: the lines after it may repeat what was sent, and prompts stay out of errors.
    """
    error = body.get("error", body.get("detail")) if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    lines = message.splitlines() if isinstance(message, str) else []
    return lines[0][:limit] if lines else "no message"
