"""Knows what a guard model may say of a text, and what an installation lets come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sessions.domain.moderation import Verdict

OTHER = "other"
"""A category that the guard made up; what it calls it may be anybody's words, so nobody is told."""
UNNAMED = "unnamed"
"""For a text that is not safe, without a word on why."""


class Level(StrEnum):
    SAFE = "safe"
    CONTROVERSIAL = "controversial"
    UNSAFE = "unsafe"


class Absence(StrEnum):
    """Why nobody knows what the guard thinks; the names are rules, as marks tell them."""

    AWAY = "guard_away"
    UNREADABLE = "guard_unreadable"
    """It answered, and not in its words."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a guard says of a text; the categories are of those that its kind knows, or `OTHER`."""

    level: Level
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """What comes of a ruling. A category that is named here is treated so whatever its level is."""

    unsafe: Verdict = Verdict.BLOCK
    controversial: Verdict = Verdict.FLAG
    categories: Mapping[str, Verdict] = field(default_factory=dict)


def verdicts(ruling: Ruling, policy: GuardPolicy) -> Mapping[str, Verdict]:
    """By category; none for what may pass."""
    if ruling.level is Level.SAFE:
        return {}
    usual = policy.unsafe if ruling.level is Level.UNSAFE else policy.controversial
    found = {name: policy.categories.get(name, usual) for name in ruling.categories or (UNNAMED,)}
    return {name: verdict for name, verdict in found.items() if verdict is not Verdict.ALLOW}
