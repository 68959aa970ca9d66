"""Remembers which requests came, from which session, in which order, and what the cache knew of them."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

_REMEMBERED = 20_000
_PREFIX_TOKENS = 64


@dataclass(slots=True, kw_only=True)
class Record:
    """One request; what is not known yet is None."""

    at_s: float
    path: str
    request_id: str
    session: str
    salt: str
    priority: int
    prompt_tokens: int
    prefix: str
    """A digest of the prompt's beginning and its salt: equal for requests that could share a cache."""
    stream: bool
    body: str
    headers: dict[str, str] = field(default_factory=dict)
    number: int = 0
    cached_tokens: int | None = None
    completion_tokens: int = 0
    first_token_s: float | None = None
    ended_s: float | None = None
    outcome: str | None = None
    """A finish reason, `gone` when the client left, `failed`, a status when it was refused, or the fault that hit."""


class Recorder:
    def __init__(self) -> None:
        self._records: deque[Record] = deque(maxlen=_REMEMBERED)
        self._counted = 0

    @property
    def records(self) -> Sequence[Record]:
        return tuple(self._records)

    def add(self, record: Record) -> Record:
        self._counted += 1
        record.number = self._counted
        self._records.append(record)
        return record

    def clear(self) -> None:
        """Forget the requests; their numbers go on."""
        self._records.clear()


def prefix_of(prompt: Sequence[int], salt: str) -> str:
    beginning = ",".join(map(str, prompt[:_PREFIX_TOKENS]))
    return blake2b(f"{salt}\n{beginning}".encode("utf-8", "replace"), digest_size=8).hexdigest()
