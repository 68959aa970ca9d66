"""With which options each shape is played unless others are given."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadtests.domain.drill import Drill, Shape, Wire


@dataclass(frozen=True, slots=True)
class Default:
    drill: Drill
    told: str
    """In a few words, for people."""


DEFAULTS: Mapping[Shape, Default] = {
    Shape.SINGLE: Default(
        Drill(shape=Shape.SINGLE, trainees=1, turns=(20, 20), think_s=2.0, lobby_s=1.0, reaction_s=1.0),
        "1 trainee, 20 turns, 2 s to think",
    ),
    Shape.CLASS: Default(Drill(shape=Shape.CLASS), "20 trainees, 20-50 turns, 20 s to think"),
    Shape.STAIRCASE: Default(
        Drill(shape=Shape.STAIRCASE, stairs=(5, 10, 20, 40, 80), stair_s=120.0, trainees=80),
        "5, 10, 20, 40, 80 trainees, 2 min each, 20 s to think",
    ),
    Shape.LONG_PROMPT: Default(
        Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT, trainees=1, turns=(3, 3), think_s=2.0),
        "1 trainee each, 25-101 % of the window, 3 turns, 2 s to think",
    ),
    Shape.LONG_OUTPUT: Default(
        Drill(shape=Shape.LONG_OUTPUT, wire=Wire.CHAT, trainees=4, turns=(3, 3), think_s=2.0, timeout_s=180.0),
        "4 trainees, 3 turns of 1,024 tokens, 2 s to think",
    ),
    Shape.KV: Default(
        Drill(shape=Shape.KV, wire=Wire.CHAT, trainees=60, turns=(6, 6), think_s=5.0),
        "60 trainees who fill their windows, 6 turns, 5 s to think",
    ),
    Shape.RECOVERY: Default(
        Drill(
            shape=Shape.RECOVERY,
            turns=(12, 20),
            think_s=10.0,
            faults=("kill@60:replica-1", "redis-restart@120", "gateway-kill@180"),
        ),
        "20 trainees, 12-20 turns, 10 s to think; kill, redis-restart, gateway-kill",
    ),
    Shape.SOAK: Default(Drill(shape=Shape.SOAK, stair_s=600.0), "20 trainees, 10 min, 20 s to think"),
    Shape.TRACE: Default(Drill(shape=Shape.TRACE, wire=Wire.CHAT, trace="azure", trainees=1), "2 min of Azure's trace"),
}


_OPENED_PER_S = 5.0


def usual_lobby_s(usual_s: float, trainees: int) -> float:
    """As long as the shape has it, and longer for many: people come in one after the other, five in a second."""
    return max(usual_s, trainees / _OPENED_PER_S)
