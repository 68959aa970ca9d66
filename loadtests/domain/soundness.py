"""What of a drill makes no sense, said before anything is asked of anybody."""

import math
from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise

from loadtests.domain.drill import Drill, Shape, Wire

_CHAT_ONLY = frozenset({Shape.LONG_PROMPT, Shape.TRACE})
_AT_LEAST_NOTHING = ("think_s", "think_sigma", "allowance_s", "lobby_s", "reaction_s")
_MORE_THAN_NOTHING = ("stair_s", "trace_s", "trace_rate", "timeout_s", "speed_up")

_MOST_TURNS = 10_000
"""Of a session; no timetable of more would fit into memory for a class."""


def complaints(drill: Drill) -> tuple[str, ...]:
    """All of them; none: the drill can be played."""
    return (*_of_counts(drill), *_of_times(drill), *_of_crowd(drill), *_of_shape(drill))


def _of_counts(drill: Drill) -> Iterator[str]:
    if drill.trainees < 1:
        yield "trainees: at least 1"
    least, most = drill.turns
    if not 1 <= least <= most:
        yield "turns: at least 1, and the least first"
    if most > _MOST_TURNS:
        yield f"turns: at most {_MOST_TURNS:,}"
    if drill.reply_tokens is not None and drill.reply_tokens < 1:
        yield "reply_tokens: at least 1"
    if drill.history is not None and drill.history < 0:
        yield "history: at least 0"
    if drill.window_tokens < 1:
        yield "window_tokens: at least 1"


def _of_times(drill: Drill) -> Iterator[str]:
    for name in _AT_LEAST_NOTHING:
        value = getattr(drill, name)
        if not (math.isfinite(value) and value >= 0):
            yield f"{name}: at least 0"
    for name in _MORE_THAN_NOTHING:
        value = getattr(drill, name)
        if not (math.isfinite(value) and value > 0):
            yield f"{name}: more than 0"


def _of_crowd(drill: Drill) -> Iterator[str]:
    shares = [getattr(drill.crowd, each.name) for each in fields(drill.crowd)]
    if not all(0 <= share <= 1 for share in shares) or sum(shares) > 1 + 1e-9:
        yield "crowd: each share between 0 and 1, and all of them at most 1"


def _of_shape(drill: Drill) -> Iterator[str]:
    if drill.shape in _CHAT_ONLY and drill.wire is not Wire.CHAT:
        yield f"shape {drill.shape}: of the chat wire only, since sessions make their own prompts"
    if drill.shape is Shape.STAIRCASE and not (drill.stairs and drill.stairs[0] >= 1 and _rises(drill.stairs)):
        yield "stairs: each with more trainees than the one before"
    if drill.shape is Shape.LONG_PROMPT and not (
        drill.prompt_shares and all(share > 0 for share in drill.prompt_shares)
    ):
        yield "prompt_shares: at least one, each more than 0"
    if drill.shape is Shape.TRACE and not drill.trace:
        yield "trace: azure, mooncake, or a file"


def _rises(stairs: tuple[int, ...]) -> bool:
    return all(lower < higher for lower, higher in pairwise(stairs))
