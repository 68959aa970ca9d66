"""The last decisions of this process."""

from collections import OrderedDict

from typing_extensions import override

from router.domain.decision import Decision
from router.ports import DecisionLog


class MemoryDecisions(DecisionLog):
    """Keeps so many of the last ones; a request id that comes again replaces what was there."""

    def __init__(self, *, most: int = 10_000) -> None:
        self._most = most
        self._kept: OrderedDict[str, Decision] = OrderedDict()

    @override
    def write(self, decision: Decision) -> None:
        self._kept[decision.request_id] = decision
        self._kept.move_to_end(decision.request_id)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    @override
    async def find(self, request_id: str) -> Decision | None:
        return self._kept.get(request_id)
