"""Plays the class that is to be certified, with its faults, and afterwards shorter ones to find the number of seats."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from loadtests.certify.run_digest import run_digest
from loadtests.certify.wish import Wish
from loadtests.certify.worth import is_simulated, scenario_of, valid_for
from loadtests.conduct.asking import speed_up_of, with_fleet
from loadtests.conduct.conductor import conduct
from loadtests.conduct.order import Order, Outcome
from loadtests.conduct.parts import parts_of
from loadtests.domain.certificate import (
    Certificate,
    Evidence,
    certificate,
    forgiving_faults,
    kept_first_token,
    targets_of_a_class,
)
from loadtests.domain.diagnosis import likely_reasons
from loadtests.domain.drill import Drill
from loadtests.domain.seat_search import Trial, next_seats
from loadtests.domain.timetable import last_planned_s
from loadtests.domain.usual_faults import UsualFaults, given_faults, usual_faults
from loadtests.domain.verdict import Standing, judge
from loadtests.report.run_reading import seen_of
from loadtests.run_files import read_object
from loadtests.run_folder import RunFolder
from loadtests.target import Target, target

_SHORT_TURNS = 6
_MOST_TRIALS = 8
_MOST_TIMES = 10

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Certified:
    certificate: Certificate
    outcome: Outcome


def certified(wish: Wish, *, say: Say) -> Certified:
    """Raises what `conduct` and `target` raise."""
    aim = with_fleet(target(wish.asked))
    drill = replace(wish.drill, speed_up=speed_up_of(aim) or 1.0)
    chosen = _faults(wish, aim, drill)
    for each in unexpected(wish, chosen):
        say(f"will not be tried: {each}")
    outcome = conduct(_order(wish, aim, replace(drill, faults=chosen.words)), say=say)
    evidence = _evidence(wish, aim, outcome)
    if wish.find_seats and not evidence.verdict.void and outcome.incomplete is None:
        trials = searched(
            drill,
            trial_of(drill.trainees, outcome),
            play=lambda shorter: conduct(_order(wish, aim, shorter), say=say),
            say=say,
        )
        evidence = replace(evidence, trials=trials)
    return Certified(certificate(replace(evidence, uncaused=chosen.uncaused)), outcome)


def unexpected(wish: Wish, faults: UsualFaults) -> tuple[str, ...]:
    """What will not be broken although nobody asked to spare it; whoever did reads it in the certificate alone."""
    return faults.uncaused if wish.faults is None else ()


def short_class(drill: Drill, seats: int) -> Drill:
    """To find a number of seats: without faults, as dense at its bell and as long in its thoughts, but soon over."""
    turns = min(drill.turns[0], _SHORT_TURNS)
    lobby_s = drill.lobby_s * max(1.0, seats / drill.trainees)
    return replace(drill, trainees=seats, turns=(turns, turns), lobby_s=lobby_s, faults=())


def searched(drill: Drill, first: Trial, *, play: Callable[[Drill], Outcome], say: Say) -> tuple[Trial, ...]:
    """Until the number of seats is known to 5 %, or eight classes were played."""
    trials = [first]
    while len(trials) <= _MOST_TRIALS:
        seats = next_seats(trials, most=_MOST_TIMES * drill.trainees)
        if seats is None:
            break
        outcome = play(short_class(drill, seats))
        if outcome.void is not None or outcome.incomplete is not None:
            say(f"the search ends: {outcome.void or outcome.incomplete}")
            break
        trials.append(trial_of(seats, outcome))
        say(f"{seats} seats {'held' if trials[-1].held else 'did not hold'}")
    return tuple(trials)


def trial_of(seats: int, outcome: Outcome) -> Trial:
    figures = outcome.figures
    held = kept_first_token(outcome.verdict) and not figures.failed and figures.completed >= seats
    return Trial(seats=seats, held=held, ttft_p95_s=figures.ttft.p95)


def _faults(wish: Wish, aim: Target, drill: Drill) -> UsualFaults:
    if wish.faults is not None:
        return given_faults(wish.faults)
    length_s = last_planned_s(parts_of(drill))
    return usual_faults([each.id for each in aim.replicas], length_s=length_s, is_own=aim.ready_file is not None)


def _order(wish: Wish, aim: Target, drill: Drill) -> Order:
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-certify-{drill.trainees}-{drill.digest[:6]}"
    return Order(
        drill=drill,
        target=aim,
        folder=RunFolder(wish.runs / name),
        targets=targets_of_a_class(wish.ttft_s),
        workers=wish.workers,
        price_per_hour=wish.price_per_hour,
        facts={"fleet": wish.fleet or None},
    )


def _evidence(wish: Wish, aim: Target, outcome: Outcome) -> Evidence:
    facts = read_object(outcome.folder.facts)
    agreed = targets_of_a_class(wish.ttft_s)
    seen = seen_of(outcome.folder, agreed, facts)
    targets = forgiving_faults(agreed, seen.figures)
    cut = (outcome.incomplete,) if outcome.incomplete is not None else ()
    verdict = judge(seen.figures, targets, drill=seen.drill, spoiled=(*outcome.verdict.void, *cut))
    missed = [each.target for each in verdict.of(Standing.MISSED)]
    return Evidence(
        drill=seen.drill,
        targets=targets,
        figures=seen.figures,
        verdict=verdict,
        events=seen.events,
        reasons=[each.says for each in likely_reasons(seen, missed=missed)],
        price_per_hour=wish.price_per_hour,
        is_simulated=is_simulated(facts),
        valid_for=valid_for(facts, scenario_of(aim, facts), targets=agreed.digest),
        run_digest=run_digest(outcome.folder),
    )
