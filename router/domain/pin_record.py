"""A pin together with what it was claimed for, so that it can be claimed again as it was."""

from collections.abc import Mapping
from dataclasses import dataclass

from router.domain.fleet import AffinityKey
from router.domain.pin import Demand, Pin


@dataclass(frozen=True, slots=True)
class PinRecord:
    """What the store keeps of one session."""

    pin: Pin
    demand: Demand


@dataclass(frozen=True, slots=True)
class Touched:
    """What a store says of pins that were believed."""

    epoch: str
    """Names the store's contents from its beginning on; another one, or none: it was emptied meanwhile."""
    wrong: Mapping[AffinityKey, PinRecord | None]
    """What is true instead; None: there is no pin."""


@dataclass(frozen=True, slots=True)
class Move:
    """Some router has moved a session, or ended it."""

    key: AffinityKey
    pin: Pin | None
