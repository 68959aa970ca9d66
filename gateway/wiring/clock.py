"""The clock of the process."""

import time
from datetime import UTC, datetime

from typing_extensions import override

from sessions.ports import Clock


class SystemClock(Clock):
    @override
    def now(self) -> datetime:
        return datetime.now(UTC)

    @override
    def ticks(self) -> float:
        return time.monotonic()
