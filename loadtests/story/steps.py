"""The steps of the story: what each changes, and the drill that is played against it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from loadtests.domain.drill import Affinity, Drill, Shape, Wire

WIDE_WINDOW, WINDOW = 8192, 4096


class Card(StrEnum):
    """Which profile the replicas of a step have."""

    BEFORE = "before"
    BOUNDED = "bounded"
    INT8 = "int8"
    AFTER = "after"


class Basis(StrEnum):
    """Where what a step gives comes from."""

    MEASURED = "measured"
    """Routing, prompts and cached tokens are what the real service does; only the engine's seconds are modelled."""
    PARTLY = "partly modelled"
    """Prompts are measured; what the change gives the engine, in memory and steps, are figures in its profile."""
    MODELLED = "modelled"
    """Nothing but other figures in the profile of the simulated engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str
    change: str
    card: Card
    window_tokens: int
    wire: Wire
    affinity: Affinity
    basis: Basis


STEPS = (
    Step(
        name="before",
        change="a balancer without affinity, the whole history sent along, 16 bits, steps without a bound",
        card=Card.BEFORE,
        window_tokens=WIDE_WINDOW,
        wire=Wire.CHAT,
        affinity=Affinity.NONE,
        basis=Basis.MEASURED,
    ),
    Step(
        name="affinity",
        change="each session stays at one replica",
        card=Card.BEFORE,
        window_tokens=WIDE_WINDOW,
        wire=Wire.CHAT,
        affinity=Affinity.SERVER,
        basis=Basis.MEASURED,
    ),
    Step(
        name="summaries",
        change="sessions keep the history: what is old is folded into notes",
        card=Card.BEFORE,
        window_tokens=WIDE_WINDOW,
        wire=Wire.TURNS,
        affinity=Affinity.SERVER,
        basis=Basis.MEASURED,
    ),
    Step(
        name="window",
        change="a window of 4,096 tokens, steps of at most 2,048 tokens and 64 sequences",
        card=Card.BOUNDED,
        window_tokens=WINDOW,
        wire=Wire.TURNS,
        affinity=Affinity.SERVER,
        basis=Basis.PARTLY,
    ),
    Step(
        name="int8",
        change="weights and KV in 8 bits",
        card=Card.INT8,
        window_tokens=WINDOW,
        wire=Wire.TURNS,
        affinity=Affinity.SERVER,
        basis=Basis.MODELLED,
    ),
    Step(
        name="speculation",
        change="speculative decoding",
        card=Card.AFTER,
        window_tokens=WINDOW,
        wire=Wire.TURNS,
        affinity=Affinity.SERVER,
        basis=Basis.MODELLED,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How the story is played. Times are drill seconds; `per_card` are the sessions on each card, stair by stair."""

    cards: int = 2
    per_card: Sequence[int] = (4, 8, 12, 16, 24, 35, 48)
    stair_s: float = 90.0
    think_s: float = 12.0
    allowance_s: float = 6.0
    lobby_s: float = 20.0
    reply_tokens: int = 110
    speed_up: float = 4.0
    seed: int = 1


def drill_of_step(step: Step, telling: Telling) -> Drill:
    """The same class for every step: only who keeps the history and who chooses the replica differ."""
    return Drill(
        shape=Shape.STAIRCASE,
        wire=step.wire,
        affinity=step.affinity,
        window_tokens=step.window_tokens,
        stairs=tuple(telling.cards * count for count in telling.per_card),
        trainees=telling.cards * telling.per_card[-1],
        stair_s=telling.stair_s,
        think_s=telling.think_s,
        allowance_s=telling.allowance_s,
        lobby_s=telling.lobby_s,
        timeout_s=60.0,
        speed_up=telling.speed_up,
        seed=telling.seed,
    )


def quick(telling: Telling) -> Telling:
    """Three low stairs, soon climbed: to see that all of it works, not what it gives."""
    return replace(telling, per_card=(1, 2, 3), stair_s=30.0, think_s=4.0, allowance_s=3.0, lobby_s=5.0, speed_up=10.0)
