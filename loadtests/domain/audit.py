"""What the record has of a session, held against what its trainee heard."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.domain.rows import Row


@dataclass(frozen=True, slots=True)
class Audit:
    """`lost` were acknowledged and are not in the record; `altered` are, and read otherwise; `doubled` are there more
    than once, or are more than were ever sent."""

    lost: int
    doubled: int
    altered: int


def audited(turns: Sequence[Row], stored: Sequence[tuple[int, str]], *, beside: int = 0) -> Audit:
    """`turns` are those of one session, `stored` numbers and digests of its record, and `beside` how many messages may
    stand there that were no turns of the drill: those of the hostile that were let in."""
    record = dict(stored)
    heard = [turn for turn in turns if _is_acknowledged(turn)]
    numbered = [(turn.stored_as if turn.stored_as is not None else turn.turn, turn.text_digest) for turn in heard]
    lost = sum(1 for number, _ in numbered if number not in record)
    altered = sum(1 for number, digest in numbered if number in record and record[number] != digest)
    twice = len(stored) - len(record)
    # A turn whose number is not known may be any of those that nobody heard, but only one of them.
    known = {number for number, _ in numbered} | {turn.stored_as for turn in turns}
    unnumbered = sum(1 for turn in turns if turn.stored_as is None and not _is_acknowledged(turn))
    strange = len(record.keys() - known)
    return Audit(lost=lost, doubled=twice + max(0, strange - unnumbered - beside), altered=altered)


def _is_acknowledged(turn: Row) -> bool:
    return turn.failure is None and not turn.was_cancelled
