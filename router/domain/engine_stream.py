"""What the events of one chat stream say, as text, and when such a stream counts as complete.

The order on the wire: chunks with text, one with a finish reason (which may carry the last text), one with the usage
and no choices, then `[DONE]`. `[DONE]` alone proves nothing: a dying server sends an error object and then `[DONE]`,
and an aborted request ends with the reason "abort". Whether there must be a usage the `Relay` has decided before.
"""

from collections.abc import Iterator

from router.domain.chunk import Chunk, read_chunk
from router.domain.exchange import Finished, FinishReason, StreamItem, TextPiece, Usage
from router.domain.fleet import ReplicaId
from router.domain.sse import DONE, SEPARATOR, event_data
from router.errors import EngineBroke, StreamBroken


class EngineStream:
    """Feed it whole events, as a `Relay` hands them out; what comes after the end is not heard."""

    def __init__(self, *, replica: ReplicaId) -> None:
        self._replica = replica
        self._reason: FinishReason | None = None
        self._usage: Usage | None = None
        self.has_finished = False

    def feed(self, events: bytes) -> list[StreamItem]:
        """No bytes say that the body has ended. Raises `EngineBroke` for everything that a complete stream has not."""
        try:
            return list(self._heard(events))
        except StreamBroken as error:
            raise EngineBroke(self._replica, str(error)) from error

    def _heard(self, events: bytes) -> Iterator[StreamItem]:
        if not events:
            raise StreamBroken("the stream was cut off")
        for block in events.split(SEPARATOR):
            data = event_data(block)
            if data is not None and not self.has_finished:
                item = self._finished() if data == DONE else self._said(read_chunk(data))
                if item is not None:
                    yield item

    def _said(self, chunk: Chunk) -> TextPiece | None:
        if (usage := chunk.document.get("usage")) is not None:
            self._usage = _read_usage(usage)
        if (reason := chunk.finish_reason) is not None:
            self._reason = FinishReason(reason)
        text = storable(chunk.text)
        return TextPiece(text) if text else None

    def _finished(self) -> Finished:
        if self._reason is None:
            raise StreamBroken("the stream ended without a finish reason")
        self.has_finished = True
        return Finished(self._reason, self._usage)


def _read_usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        raise StreamBroken("the usage is not an object")
    details = usage.get("prompt_tokens_details")
    # The details are null unless the server runs with --enable-prompt-tokens-details.
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=0 if cached is None else _count(cached),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _count(value: object) -> int:
    if not isinstance(value, int):
        raise StreamBroken("the usage has no such count")
    return value


def storable(text: str) -> str:
    """Without what the database or UTF-8 cannot hold: NUL is dropped, a lone surrogate becomes U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
