"""What a class that is to be certified has to live through: a replica killed, one frozen, and an empty Redis."""

from collections.abc import Sequence
from dataclasses import dataclass

_FREEZE_S = 10.0
_KILLED, _FROZEN, _FLUSHED = 0.3, 0.5, 0.7
"""Of the class's length."""
_REPLICAS = 2
"""At least, or a lost one has nobody to go on for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualFaults:
    words: tuple[str, ...]
    """As a drill has them."""
    uncaused: tuple[str, ...]
    """What cannot be caused here, and why."""


def usual_faults(replicas: Sequence[str], *, length_s: float, is_own: bool) -> UsualFaults:
    """`replicas` by their ids; `is_own`: a stack on this machine whose processes may be ended."""
    if not is_own:
        why = "its processes are not ours to end"
        return UsualFaults(words=(), uncaused=_without(_KINDS, why))
    flush = f"redis-flush@{_FLUSHED * length_s:.1f}"
    if len(replicas) < _REPLICAS:
        why = "there is no second one to go on for it"
        return UsualFaults(words=(flush,), uncaused=_without(_KINDS[:2], why))
    lost, still = replicas[0], replicas[1]
    kill = f"kill@{_KILLED * length_s:.1f}:{lost}"
    freeze = f"freeze@{_FROZEN * length_s:.1f}+{_FREEZE_S:g}:{still}"
    return UsualFaults(words=(kill, freeze, flush), uncaused=())


def given_faults(words: tuple[str, ...]) -> UsualFaults:
    """What was asked for instead of the usual ones; with nothing, that nothing was broken is said."""
    return UsualFaults(words=words, uncaused=() if words else _without(_KINDS, "nothing was to be broken"))


def _without(kinds: Sequence[str], why: str) -> tuple[str, ...]:
    return (f"{', '.join(kinds)}: {why}",)


_KINDS = ("a replica killed", "a replica frozen", "an empty Redis")
