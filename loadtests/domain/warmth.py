"""Whether a turn found its session in a replica's cache, and why not.

A second or later turn should find all that the turn before asked and answered, except the last block, which may not
be full; it is cold when it found less than half of that.
"""

from collections.abc import Sequence

from loadtests.domain.affinity import Trouble
from loadtests.domain.figures import ColdReason
from loadtests.domain.rows import Row

BLOCK_TOKENS = 32


def cold_reasons(
    session: Sequence[Row], *, history: int | None = None, known: Sequence[Trouble] = ()
) -> list[ColdReason | None]:
    """One for each turn of a session, in its order, that has one before it; None: it was warm.

    `history` is how many of the latest messages the client sends along, if it cuts them; `known` what happened to
    replicas.
    """
    found: list[ColdReason | None] = []
    before: Row | None = None
    for turn in session:
        if turn.failure is not None or turn.prompt_tokens == 0:
            continue
        if before is not None:
            reason = _reason(before, turn, history)
            is_lost = reason is ColdReason.EVICTED and any(each.parts(before, turn) for each in known)
            found.append(ColdReason.LOST if is_lost else reason)
        before = turn
    return found


def _reason(before: Row, turn: Row, history: int | None) -> ColdReason | None:
    if turn.cached_tokens is None:
        return ColdReason.UNTOLD
    there = min(before.prompt_tokens + before.completion_tokens, turn.prompt_tokens) - BLOCK_TOKENS
    if turn.cached_tokens >= there / 2:
        return None
    if before.replica is not None and turn.replica is not None and before.replica != turn.replica:
        return ColdReason.MOVED
    if turn.prompt_tokens < before.prompt_tokens or _was_cut(turn, history):
        return ColdReason.FOLDED
    return ColdReason.EVICTED


def _was_cut(turn: Row, history: int | None) -> bool:
    """Whether the client left out messages: of turn n there are n of the trainee and n - 1 replies."""
    return history is not None and turn.turn is not None and 2 * turn.turn - 1 > history
