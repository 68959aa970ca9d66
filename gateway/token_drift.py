"""Whether the engines count the tokens of our prompts as we do, watched turn by turn.

A drift means that a replica has another tokenizer or chat template than the one read here, or writes something of its
own into prompts: then budgets are off by as much, and the cache may be lost. It is an alarm and no outage, since every
prompt keeps a margin.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import structlog
from structlog.typing import FilteringBoundLogger

from sessions.domain.turn import Turn, TurnState

_WATCHED_TURNS = 1000
"""The alarm ends when so many turns in a row have agreed."""
_MOST_CAUSES = 256

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Agreement:
    ok: bool
    detail: str


class TokenDrift:
    """`counted_by` says what counts on our side."""

    def __init__(self, *, counted_by: str) -> None:
        self._counted_by = counted_by
        self._recent: deque[bool] = deque(maxlen=_WATCHED_TURNS)
        self._causes: set[tuple[str | None, int]] = set()
        self._drifts = 0
        self._last = 0
        self._last_replica: str | None = None

    def compare(self, turn: Turn, counted: int) -> None:
        """Says nothing of a turn whose engine told no usage, or whose usage is put together from two replicas'."""
        told = turn.usage.prompt_tokens
        if turn.state is not TurnState.COMPLETED or turn.continued or told <= 0:
            return
        difference = told - counted
        self._recent.append(difference != 0)
        if difference:
            self._drifts += 1
            self._last, self._last_replica = difference, turn.replica
            self._tell_once(turn, difference)

    def agreement(self) -> Agreement:
        compared, differing = len(self._recent), sum(self._recent)
        if not compared:
            return Agreement(ok=True, detail=f"no turn compared yet; counted by {self._counted_by}")
        if not differing:
            return Agreement(ok=True, detail=f"the last {compared} turns agree; counted by {self._counted_by}")
        return Agreement(
            ok=False,
            detail=f"{differing} of the last {compared} turns differ, the latest by {self._last:+d} at "
            f"{self._last_replica}: another tokenizer or chat template; counted by {self._counted_by}",
        )

    def gauges(self) -> Mapping[str, float]:
        return {"token_drift_last": self._last}

    def counters(self) -> Mapping[str, float]:
        return {"token_drift": self._drifts}

    def _tell_once(self, turn: Turn, difference: int) -> None:
        cause = (turn.replica, difference)
        if cause in self._causes or len(self._causes) >= _MOST_CAUSES:
            return
        self._causes.add(cause)
        _log.warning(
            "tokens drift", replica=turn.replica, difference=difference, session=str(turn.session), turn=turn.number
        )
