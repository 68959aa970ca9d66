"""Which sessions are not asked for a note just yet, since the last one failed.

Kept in this process alone: it saves work and decides nothing, so what is lost is one more attempt.
"""

from collections import OrderedDict
from typing import Final

from sessions.domain.compaction import may_try_again
from sessions.domain.history import History
from sessions.domain.session import SessionId

_MOST_SESSIONS: Final = 4096
"""The one whose attempt is longest ago is forgotten first, and so asked again at once."""


class NotePauses:
    def __init__(self) -> None:
        self._failed_at: OrderedDict[SessionId, int] = OrderedDict()

    def begin(self, session: SessionId, history: History) -> None:
        """An attempt failed that knew this history."""
        self.forget(session)
        self._failed_at[session] = history.last_turn
        if len(self._failed_at) > _MOST_SESSIONS:
            self._failed_at.popitem(last=False)

    def forget(self, session: SessionId) -> None:
        self._failed_at.pop(session, None)

    def holds_back(self, session: SessionId, history: History) -> bool:
        failed_at = self._failed_at.get(session)
        tail = (turn.number for turn in history.remembered)
        return failed_at is not None and not may_try_again(tail, failed_at=failed_at)
