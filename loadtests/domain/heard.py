"""What was heard of one turn, whichever API it was taken by."""

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import nlargest

_GAPS_KEPT = 8
_DIGEST_LETTERS = 16
_MOST_TOKENS = 10**9
_NO_WORD = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_WORD = 40


def digest_of(text: str) -> str:
    """Of a reply; equal for equal texts, and nothing of its words can be read from it."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGEST_LETTERS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Instants are of the clock that stamped the lines. `failure` names what went wrong, in one word."""

    text: str
    stored_as: int | None = None
    first_at: float | None = None
    last_at: float | None = None
    pieces: int = 0
    gaps_s: tuple[float, ...] = ()
    """The longest between two pieces, longest first."""
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    """None: the server does not tell."""
    completion_tokens: int = 0
    replica: str | None = None
    continued: bool = False
    finish: str | None = None
    failure: str | None = None
    is_retryable: bool = False
    """The server says that the same may be sent again."""

    @property
    def digest(self) -> str:
        return digest_of(self.text)


@dataclass(slots=True)
class Pieces:
    """Gathers the text of a reply, and when it came."""

    texts: list[str] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)

    def add(self, text: str, at: float) -> None:
        self.texts.append(text)
        self.stamps.append(at)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def first_at(self) -> float | None:
        return self.stamps[0] if self.stamps else None

    @property
    def last_at(self) -> float | None:
        return self.stamps[-1] if self.stamps else None

    @property
    def gaps_s(self) -> tuple[float, ...]:
        between = (after - before for before, after in zip(self.stamps, self.stamps[1:], strict=False))
        return tuple(nlargest(_GAPS_KEPT, between))


def word_of(code: object) -> str:
    """A server's code as one word, whatever it sent."""
    return _NO_WORD.sub("_", str(code))[:_LONGEST_WORD]


def count_in(usage: object, name: str) -> int | None:
    """A count of tokens as a server told it; None where it did not, or told what is no count."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def cached_in(usage: object, *, prompt_tokens: int) -> int | None:
    """None also where more were cached than there were, which tells nothing."""
    cached = count_in(usage, "cached_tokens")
    return None if cached is None or cached > prompt_tokens else cached


def object_in(text: str) -> dict[str, object] | None:
    """The JSON object that a line of data is; None of anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
