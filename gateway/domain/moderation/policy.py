"""Knows what a tenant may set about moderation beside its lists."""

from dataclasses import dataclass

from gateway.domain.moderation.injection import Thresholds
from gateway.domain.moderation.release import MASK

_USUAL = Thresholds()


@dataclass(frozen=True, slots=True)
class Policy:
    user: Thresholds = _USUAL
    """For what people say."""
    knowledge: Thresholds = _USUAL
    """For what stands in documents."""
    mask: str = MASK
    """What stands in place of a masked phrase."""


USUAL = Policy()
