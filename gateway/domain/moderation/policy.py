"""Knows what a tenant may set about moderation beside its lists, and what holds where it has set nothing."""

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


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """What a tenant has set by itself; None is inherited from the installation."""

    user_flag: float | None = None
    user_block: float | None = None
    knowledge_flag: float | None = None
    knowledge_block: float | None = None
    mask: str | None = None


INHERITED = OwnPolicy()


def effective(own: OwnPolicy, usual: Policy) -> Policy:
    return Policy(
        user=_thresholds(own.user_flag, own.user_block, usual.user),
        knowledge=_thresholds(own.knowledge_flag, own.knowledge_block, usual.knowledge),
        mask=usual.mask if own.mask is None else own.mask,
    )


def _thresholds(flag: float | None, block: float | None, usual: Thresholds) -> Thresholds:
    return Thresholds(usual.flag if flag is None else flag, usual.block if block is None else block)
