"""The end of a reply, held back until it is whole, so that nobody sees a finish after which the reply goes on."""

from router.domain.chunk import Chunk, Counts
from router.domain.envelope import DONE
from router.errors import StreamBroken


class Ending:
    """Collects the finish of each choice, the usage, and what stands between them and `[DONE]`."""

    def __init__(self, *, choices: int = 1) -> None:
        self._choices = choices
        self._held: list[bytes] = []
        self._usage = b""
        self._finished: set[int] = set()
        self.finish: Chunk | None = None
        self.counts: Counts | None = None

    @property
    def has_finish(self) -> bool:
        return len(self._finished) >= self._choices

    def is_at(self, chunk: Chunk) -> bool:
        """Whether the event belongs to the end."""
        return self.has_finish or chunk.finish_reason is not None

    def hold(self, chunk: Chunk, event: bytes) -> None:
        """`event` is the chunk as it is to be handed out."""
        if chunk.finish_reason is not None:
            self._finished.add(chunk.index)
            self.finish = chunk
        self.counts = chunk.counts or self.counts
        if chunk.choice or chunk.counts is None:
            self._held.append(event)
        else:
            self._usage = event

    def hold_comment(self, event: bytes) -> None:
        self._held.append(event)

    def whole(self, *, wants_usage: bool) -> bytes:
        """All that was held, upon `[DONE]`; raises `StreamBroken` if something is missing."""
        if not self.has_finish:
            raise StreamBroken("the stream ended without a finish reason")
        if wants_usage and self.counts is None:
            raise StreamBroken("the stream ended without its usage")
        return b"".join([*self._held, self._usage, DONE])

    def completed(self, usage: bytes) -> bytes:
        """All that was held, with a usage that was not told; empty: none was asked for."""
        return b"".join([*self._held, self._usage or usage, DONE])
