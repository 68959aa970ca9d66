"""A router of which only the numbers matter."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from router.domain.fleet import Fleet, ReplicaId
from router.domain.pin import PinnedLoad
from router.errors import PinStoreUnavailable
from router.tally import RouterNumbers


@dataclass
class CountedRouter:
    counted: RouterNumbers = field(default_factory=RouterNumbers)
    seen: Fleet = field(default_factory=Fleet)
    pinned: Mapping[ReplicaId, PinnedLoad] | None = None
    """None: the pin store is away."""

    def numbers(self) -> RouterNumbers:
        return self.counted

    def fleet(self) -> Fleet:
        return self.seen

    async def loads(self) -> Mapping[ReplicaId, PinnedLoad]:
        if self.pinned is None:
            raise PinStoreUnavailable
        return self.pinned
