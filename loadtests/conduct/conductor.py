"""Plays one load drill from its beginning to its verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace

from loadtests.conduct.asking import asked_target, replica_facts, silent
from loadtests.conduct.bell import Bell
from loadtests.conduct.breaker import Breaker
from loadtests.conduct.breaking import Scene
from loadtests.conduct.facts import code_facts, load_average, machine_facts
from loadtests.conduct.faults import Fault, UnknownFault, faults_of
from loadtests.conduct.judging import judged
from loadtests.conduct.locust_process import LocustProcess, require_locust
from loadtests.conduct.order import DrillFailed, Order, Outcome
from loadtests.conduct.parts import most_turns, parts_of
from loadtests.conduct.playing import Patience, Played, play
from loadtests.conduct.progress import Progress
from loadtests.conduct.stack import StackFailed
from loadtests.conduct.watch import Watch
from loadtests.domain.marks import marks
from loadtests.domain.offered import Offered, offered
from loadtests.run_files import append, write_object

_START_S = 3.0
_START_OF_A_WORKER_S = 0.5


def conduct(order: Order, *, say: Callable[[str], None]) -> Outcome:
    """Play the drill, keep what was measured, and judge it; raises `DrillFailed` when it could not be played.

    To be called by the main thread: what it starts ends with the thread that started it.
    """
    require_locust()
    parts = parts_of(order.drill)
    load = offered(order.drill, parts)
    order = replace(order, target=asked_target(order.target, drill=order.drill, most_turns=most_turns(parts)))
    faults = _faults(order, load)
    _make_folder(order)
    replicas = replica_facts(order.target)
    circumstances = _circumstances(order, load, replicas)  # it may take a while, so the bell is set after it
    bell = Bell.in_s(_lead_s(order), speed_up=order.drill.speed_up)
    facts = {"bell_at": bell.written, **circumstances}
    write_object(order.folder.facts, facts)
    say(_announced(order, load))
    if missing := silent(replicas):
        say(f"without {', '.join(missing)}, which does not answer")
    played, failures = _played(order, load, faults, bell, say)
    ended_s = bell.now_s()
    append(order.folder.events, marks(order.drill, ended_s=ended_s))
    write_object(
        order.folder.facts,
        {**facts, "ended_s": round(ended_s, 3), "incomplete": played.cut, "load_average_after": load_average()},
    )
    return judged(order, played, failures)


def _played(
    order: Order, load: Offered, faults: tuple[Fault, ...], bell: Bell, say: Callable[[str], None]
) -> tuple[Played, list[str]]:
    """How it was played, and which faults could not be caused."""
    breaker = Breaker(
        faults,
        Scene.of(order.target),
        clock=bell.now_s,
        speed_up=bell.speed_up,
        tell=lambda event: append(order.folder.events, [event]),
    )
    played = play(
        LocustProcess(order.folder, order.target, bell_at=bell.at, workers=order.workers),
        watch=Watch(order.target, order.folder, clock=bell.now_s),
        breaker=breaker,
        progress=Progress(order.folder, planned=load.turns, clock=bell.now_s),
        patience=Patience(bell=bell, length_s=load.length_s, timeout_s=order.drill.timeout_s),
        say=say,
    )
    return played, breaker.failures


def _lead_s(order: Order) -> float:
    """In real seconds: until all workers run, and the lobby is over."""
    starting = _START_S + _START_OF_A_WORKER_S * order.workers
    return starting + order.drill.lobby_s / order.drill.speed_up


def _faults(order: Order, load: Offered) -> tuple[Fault, ...]:
    try:
        faults = faults_of(order.drill.faults)
        lacking = [why for fault in faults if (why := Scene.of(order.target).lacks(fault))]
    except (StackFailed, UnknownFault) as error:
        raise DrillFailed(str(error)) from None
    lacking += [
        f"{fault} comes after the last message, which is planned at {load.last_s:.0f} s"
        for fault in faults
        if fault.at_s > load.last_s
    ]
    if lacking:
        raise DrillFailed("; ".join(lacking))
    return faults


def _make_folder(order: Order) -> None:
    """It says at once what is played in it."""
    try:
        order.folder.path.mkdir(parents=True)
    except FileExistsError:
        raise DrillFailed(f"{order.folder.path} is there already; a run has a folder of its own") from None
    except OSError as error:
        raise DrillFailed(f"{order.folder.path} cannot be made: {error.strerror}") from None
    write_object(order.folder.drill, order.drill.as_json())


def _circumstances(order: Order, load: Offered, replicas: Sequence[Mapping[str, object]]) -> dict[str, object]:
    return {
        "drill": order.drill.digest,
        "offered": asdict(load),
        "workers": order.workers,
        "price_per_hour": order.price_per_hour,
        "targets": order.targets.as_json(),
        "target": {
            "base_urls": list(order.target.base_urls),
            "scenario": order.target.scenario,
            "model": order.target.model,
        },
        "replicas": replicas,
        "code": code_facts(),
        "machine": machine_facts(),
        "load_average_before": load_average(),
        **order.facts,
    }


def _announced(order: Order, load: Offered) -> str:
    drill = order.drill
    return (
        f"{drill.shape}: {load.trainees} trainees, {load.turns} turns in {load.sessions} sessions over "
        f"{load.length_s / drill.speed_up:.0f} s, at most {load.peak_per_s:.1f} turns/s; at {order.target.base_url}"
    )
