"""What has to lie on disk before anything starts: vLLM's environment and a model; and the machine it is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gateway.local.bundled_model import Model, bundled_model, own_model, require_window
from gateway.local.hardware import available_memory_gib, gpus, usable_cores
from gateway.local.vllm_environment import Installer, existing_environment, is_cpu_build, vllm_environment
from gateway.local.vllm_replica import Place, Serving, spread

_REPLICA_GIB = 3.1  # measured for the bundled model on CPU


class ReplicaKind(StrEnum):
    VLLM = "vllm"
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
    gateway_module: str = "gateway.cli.main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """`model` None: the caller's own variables name one. `serving` None: no replicas are started here."""

    model: Model | None
    serving: Serving | None
    places: tuple[Place, ...]


def prepare(options: Options, installer: Installer, caller: Mapping[str, str], *, temporary: Path) -> Prepared:
    """`temporary` is for what the replicas write for a moment."""
    if options.replica_kind is ReplicaKind.NONE:
        named = options.model is None and "DRILLYARD_MODEL__FOLDER" in caller
        return Prepared(model=None if named else _model(options, installer), serving=None, places=())
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
    return Prepared(model=model, serving=serving, places=spread(options.replicas, cores=usable_cores(), gpus=cards))


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
