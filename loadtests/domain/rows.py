"""One row per request of a drill: what every figure is made of, and what is kept of a run.

A turn is one row of `Kind.TURN`, however often it was tried and whoever read on after a lost stream; what was sent
beside it (a second reader, a cancelling, the same message again) is a row of another kind. A session that could not be
opened has a failed `Kind.OPEN` and no turns: it counts as one failed first turn.
"""

import json
from dataclasses import asdict, dataclass, fields
from enum import StrEnum

from loadtests.domain.kinds import of_its_kinds

_REFUSED = 400


class Kind(StrEnum):
    """What a trainee asked for. Only turns count in times and failures of turns."""

    TURN = "turn"
    OPEN = "open"
    CLOSE = "close"
    RESUME = "resume"
    """The rest of a turn after its stream was lost."""
    CANCEL = "cancel"
    HOSTILE = "hostile"
    """Something that must be refused; `failure` says when it was not."""
    AUDIT = "audit"
    """The stored turns of a session, read after its end; `stored` is held against what was heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Instants are drill seconds since the bell (below 0 in the lobby), one clock for all workers.

    `failure` names what went wrong in one word, else None: `http_503`, `no_end`, `timeout`, `error`, `moderated` (a
    false block), `altered`, `let_in`, ... `note` is a detail that is no failure, such as the code of a refusal that was
    waited out.
    """

    kind: Kind
    worker: int
    trainee: int
    session: str
    turn: int | None = None
    """Its number in the timetable, from 1."""
    planned_s: float
    """When the timetable has it."""
    started_s: float
    """When its first byte was sent."""
    free_s: float | None = None
    """When this trainee could have sent it: the later of `planned_s` and the end of its turn before. What passes from
    here to `started_s` is the client's own lag."""
    first_s: float | None = None
    """First chunk with generated text."""
    last_s: float | None = None
    """Last chunk with generated text."""
    ended_s: float
    pieces: int = 0
    gaps_s: tuple[float, ...] = ()
    """The longest gaps between chunks, at most eight, longest first."""
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    """None: the server does not tell."""
    completion_tokens: int = 0
    replica: str | None = None
    continued: bool = False
    """Another replica took the reply over."""
    finish: str | None = None
    """As the server named it; `cancelled` when the trainee stopped the reply, which is no failure."""
    status: int | None = None
    attempts: int = 1
    text_digest: str = ""
    """Of the whole reply; its words are not kept."""
    stored_as: int | None = None
    """The number under which the server took the turn. It is not always that of the timetable: a turn that failed may
    give its number to the next."""
    stored: tuple[tuple[int, str], ...] = ()
    """Of `Kind.AUDIT`: number and text digest of each turn in the record, in its order."""
    failure: str | None = None
    note: str = ""

    @property
    def was_cancelled(self) -> bool:
        """Stopped by the trainee: it counts in times as far as it was heard."""
        return self.failure is None and self.finish == "cancelled"

    @property
    def was_refused(self) -> bool:
        """As it had to be; a connection that was cut is an answer too."""
        return self.kind is Kind.HOSTILE and self.failure is None and (self.status is None or self.status >= _REFUSED)

    @property
    def ttft_s(self) -> float | None:
        """From its first byte sent to its first text."""
        return None if self.first_s is None else self.first_s - self.started_s

    @property
    def ttft_planned_s(self) -> float | None:
        """From the planned start, so that whoever was kept waiting before it was sent is counted too."""
        return None if self.first_s is None else self.first_s - min(self.planned_s, self.started_s)

    @property
    def e2e_s(self) -> float | None:
        """From its first byte sent to its last text."""
        return None if self.last_s is None else self.last_s - self.started_s

    @property
    def tpot_s(self) -> float | None:
        """Seconds per output token after the first; undefined for a reply of one token."""
        if self.first_s is None or self.last_s is None or self.completion_tokens <= 1:
            return None
        return (self.last_s - self.first_s) / (self.completion_tokens - 1)

    def as_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


_NAMES = frozenset(each.name for each in fields(Row))


def row_of(line: str) -> Row:
    """The row that `as_json` wrote; raises `ValueError` for anything else."""
    told = json.loads(line)
    if not isinstance(told, dict) or set(told) - _NAMES:
        raise ValueError("not a row of a load drill")
    try:
        stored = tuple((int(number), str(digest)) for number, digest in told.get("stored", ()))
        gaps = tuple(told.get("gaps_s", ()))
        return of_its_kinds(Row(**{**told, "kind": Kind(told["kind"]), "gaps_s": gaps, "stored": stored}))
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a row of a load drill: {error}") from error
