"""Rows of a whole class with chance in them, of equal chance for equal seeds."""

from dataclasses import dataclass

import numpy as np

from loadtests.domain.drill import Drill
from loadtests.domain.figuring import figures_of
from loadtests.domain.limits import Limits
from loadtests.domain.measured import RunSeen, run_seen
from loadtests.domain.rows import Row
from tests.support.load_rows import a_failed_turn, a_turn

LIMITS = Limits()
_EVERY_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """`slower` multiplies every wait; `drift` is by how much whole runs differ, as the spread of a logarithm."""

    seed: int
    sessions: int = 40
    turns: int = 20
    slower: float = 1.0
    drift: float = 0.0
    failing: float = 0.0
    cold: float = 0.05


def crowd_rows(crowd: Crowd) -> list[Row]:
    """Sessions differ from each other, so that the turns of one are no independent values."""
    dice = np.random.default_rng(crowd.seed)
    run = crowd.slower * float(np.exp(crowd.drift * dice.standard_normal()))
    return [
        row
        for trainee in range(crowd.sessions)
        for own in [run * float(dice.lognormal(-1, 0.4))]
        for row in _session(trainee, own, crowd, dice)
    ]


def run_of(crowd: Crowd) -> RunSeen:
    rows = crowd_rows(crowd)
    return run_seen(rows, figures=figures_of(rows, drill=Drill(), targets=LIMITS), limits=LIMITS)


def _session(trainee: int, own: float, crowd: Crowd, dice: np.random.Generator) -> list[Row]:
    rows = []
    for turn in range(1, crowd.turns + 1):
        at_s, session = _EVERY_S * turn, f"s-{trainee}"
        wait_s, rest_s = own * float(dice.lognormal(0, 0.5)), float(dice.lognormal(0, 0.2))
        cached = 0 if turn == 1 or dice.random() < crowd.cold else 400 + 60 * turn
        if dice.random() < crowd.failing:
            rows.append(a_failed_turn(turn, at_s=at_s, trainee=trainee, session=session))
            continue
        rows.append(
            a_turn(
                turn,
                at_s=at_s,
                trainee=trainee,
                session=session,
                first_s=at_s + wait_s,
                last_s=at_s + wait_s + rest_s,
                ended_s=at_s + wait_s + rest_s,
                prompt_tokens=500 + 60 * turn,
                completion_tokens=50,
                cached_tokens=cached,
            )
        )
    return rows
