"""What has to lie on disk before anything starts: vLLM's environment and a model; and the machine it is for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import assert_never

from gateway.local.bundled_model import Model, bundled_model, own_model, require_window
from gateway.local.calendar_pool import ByCalendar, CalendarPool, simulated_pool, vllm_pool
from gateway.local.children import Service
from gateway.local.errors import LocalStackError
from gateway.local.hardware import available_memory_gib, gpus, usable_cores
from gateway.local.sim_replica import Simulation, Tuning, sim_service
from gateway.local.vllm_environment import Installer, existing_environment, is_cpu_build, vllm_environment
from gateway.local.vllm_replica import Place, ReplicaPlan, Serving, replica_service, spread

_REPLICA_GIB = 3.1  # measured for the bundled model on CPU


class ReplicaKind(StrEnum):
    VLLM = "vllm"
    SIM = "sim"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for. `port` None is the usual one if it is free.

    `gateway_module` is the program that knows `serve` and `db migrate`.
    """

    replica_kind: ReplicaKind
    replicas: int
    model: Path | None
    vllm_env: Path | None
    window_tokens: int
    host: str
    port: int | None
    tuning: Tuning = field(default_factory=Tuning)
    """Of simulated replicas."""
    by_calendar: ByCalendar | None = None
    """None: the replicas are there all the time; else so many at most."""
    gateway_module: str = "gateway.cli.main"


Starter = Callable[[str, int], Service]
"""A replica to be started under an id, on a port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """`model` None: the caller's own variables name one. No starters: no replicas are started here, or those of the
    pool when a class needs them.
    """

    model: Model | None
    starters: tuple[Starter, ...] = ()
    pool: CalendarPool | None = None


def prepare(options: Options, installer: Installer, caller: Mapping[str, str], *, temporary: Path) -> Prepared:
    """`temporary` is for what the replicas write for a moment."""
    match options.replica_kind:
        case ReplicaKind.NONE:
            if options.by_calendar is not None:
                raise LocalStackError(
                    "--by-calendar starts replicas, and --replica-kind none none",
                    hint="take vllm or sim, or run `drillyard fleet run` with pools of your own",
                )
            named = options.model is None and "DRILLYARD_MODEL__FOLDER" in caller
            return Prepared(model=None if named else _model(options, installer))
        case ReplicaKind.SIM:
            model = _model(options, installer)
            simulation = Simulation(
                model=model, tuning=options.tuning, window_tokens=options.window_tokens, logs=installer.logs
            )
            if options.by_calendar is not None:
                pool = simulated_pool(simulation, replicas=options.replicas, by=options.by_calendar)
                return Prepared(model=model, pool=pool)
            starters = tuple(partial(sim_service, simulation) for _ in range(options.replicas))
            return Prepared(model=model, starters=starters)
        case ReplicaKind.VLLM:
            return _real(options, installer, caller, temporary)
        case never:
            assert_never(never)


def _real(options: Options, installer: Installer, caller: Mapping[str, str], temporary: Path) -> Prepared:
    environment, cards = _environment(options, installer)
    model = _model(options, installer)
    require_window(model, options.window_tokens)
    serving = Serving(
        environment=environment,
        model=model,
        window_tokens=options.window_tokens,
        home=installer.cache / "replica-home",
        temporary=temporary,
        logs=installer.logs,
    )
    if not cards:
        _warn_if_memory_is_short(options, installer)

    def starter(place: Place) -> Starter:
        return lambda name, port: replica_service(ReplicaPlan(id=name, port=port, place=place), serving, caller=caller)

    places = spread(options.replicas, cores=usable_cores(), gpus=cards)
    if options.by_calendar is not None:
        return Prepared(model=model, pool=vllm_pool(serving, places, by=options.by_calendar, caller=caller))
    return Prepared(model=model, starters=tuple(starter(place) for place in places))


def _environment(options: Options, installer: Installer) -> tuple[Path, tuple[str, ...]]:
    """The environment, and the cards it can use."""
    cards = gpus()
    if options.vllm_env is None:
        return vllm_environment(installer, gpu=bool(cards)), cards
    environment = existing_environment(options.vllm_env)
    return environment, () if is_cpu_build(environment) else cards


def _model(options: Options, installer: Installer) -> Model:
    return bundled_model(installer) if options.model is None else own_model(options.model)


def _warn_if_memory_is_short(options: Options, installer: Installer) -> None:
    needed, free = options.replicas * _REPLICA_GIB, available_memory_gib()
    if free < needed:
        installer.progress.note(
            f"warning: {options.replicas} replicas need about {needed:.1f} GiB of memory and {free:.1f} GiB are free; "
            "if one is killed while it loads, use fewer (--replicas 1)"
        )
