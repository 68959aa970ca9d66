"""How one vLLM replica is run on a core or a GPU, and when it may be called ready."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from gateway.local.bundled_model import Model
from gateway.local.children import Service
from gateway.local.http_probe import ask
from gateway.local.process import Command

HOST = "127.0.0.1"
_CPU_BLOCK_TOKENS = 32  # the smallest the CPU build starts with, closest to a GPU's 16
_CPU_CACHE_GIB = 1  # the build takes whole GiB only; holds 46,592 tokens of the bundled model
_GPU_SHARE = 0.9  # of one card, for all replicas on it together
_FIRST_TOKEN_S = 20.0
_GRACE_S = 4.0  # a serving one ends within 2 s; one that still loads does not listen to the signal at all


@dataclass(frozen=True, slots=True)
class OnCore:
    core: int | str
    """By its name where each replica is to be told its own."""


@dataclass(frozen=True, slots=True)
class OnGpu:
    """`sharing` replicas use this card together."""

    index: str
    sharing: int


Place = OnCore | OnGpu


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaPlan:
    id: str
    port: int
    place: Place

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What all replicas of a stack have in common. `home` takes the caches vLLM and its libraries write, `temporary`
    their sockets and what else is worth nothing later.
    """

    environment: Path
    model: Model
    window_tokens: int
    home: Path
    temporary: Path
    logs: Path
    deadline_s: float = 300.0


def spread(count: int, *, cores: tuple[int, ...], gpus: tuple[str, ...]) -> tuple[Place, ...]:
    """Round robin over the GPUs if there are any, else over the cores."""
    if not gpus:
        return tuple(OnCore(cores[n % len(cores)]) for n in range(count))
    indices = [gpus[n % len(gpus)] for n in range(count)]
    return tuple(OnGpu(index, sharing=indices.count(index)) for index in indices)


def replica_argv(plan: ReplicaPlan, serving: Serving) -> tuple[str, ...]:
    return serve_words(serving, place=plan.place, port=str(plan.port))


def serve_words(serving: Serving, *, place: Place, port: str) -> tuple[str, ...]:
    return (
        # Through the interpreter: the script's first line cannot hold a long path.
        str(serving.environment / "bin" / "python"),
        str(serving.environment / "bin" / "vllm"),
        "serve",
        str(serving.model.folder),
        *("--served-model-name", serving.model.name),
        *("--host", HOST, "--port", port),
        *("--max-model-len", str(serving.window_tokens)),
        "--enable-prompt-tokens-details",
        *("--scheduling-policy", "priority"),
        "--no-enable-log-requests",
        "--disable-uvicorn-access-log",
        *_flags_of(place),
    )


def _flags_of(place: Place) -> tuple[str, ...]:
    match place:
        case OnCore():
            # Without --enforce-eager a start takes 150 s instead of 40, for 4 ms per token.
            return ("--dtype", "bfloat16", "--enforce-eager", "--block-size", str(_CPU_BLOCK_TOKENS))
        case OnGpu(sharing=sharing):
            return ("--gpu-memory-utilization", f"{_GPU_SHARE / sharing:.2f}")
        case never:
            assert_never(never)


def replica_environment(plan: ReplicaPlan, serving: Serving, caller: Mapping[str, str]) -> Mapping[str, str]:
    # Nothing of ours, neither search path nor secrets.
    theirs = {name: value for name, value in caller.items() if not is_ours(name)}
    return {**theirs, **serve_environment(serving, place=plan.place, caller=caller)}


def is_ours(variable: str) -> bool:
    return variable.startswith(("DRILLYARD_", "PYTHON", "VIRTUAL_"))


def serve_environment(serving: Serving, *, place: Place, caller: Mapping[str, str]) -> Mapping[str, str]:
    """What a replica is told beside the caller's own."""
    quiet = {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
    }
    path = os.pathsep.join([str(serving.environment / "bin"), caller.get("PATH", os.defpath)])
    # A home that can be written, whoever we are.
    home = {"HOME": str(serving.home), "XDG_CACHE_HOME": str(serving.home / ".cache"), "PATH": path}
    passing = dict.fromkeys(("TMPDIR", "VLLM_RPC_BASE_PATH"), str(serving.temporary))
    return {**home, **quiet, **passing, **_environment_of(place)}


def _environment_of(place: Place) -> Mapping[str, str]:
    match place:
        case OnCore(core=core):
            return {"VLLM_CPU_KVCACHE_SPACE": str(_CPU_CACHE_GIB), "VLLM_CPU_OMP_THREADS_BIND": str(core)}
        case OnGpu(index=index):
            return {"CUDA_VISIBLE_DEVICES": index}
        case never:
            assert_never(never)


def replica_service(plan: ReplicaPlan, serving: Serving, *, caller: Mapping[str, str]) -> Service:
    serving.home.mkdir(parents=True, exist_ok=True)
    command = Command(
        name=plan.id,
        argv=replica_argv(plan, serving),
        log=serving.logs / f"{plan.id}.log",
        env=replica_environment(plan, serving, caller),
        cwd=serving.home,
        grace_s=_GRACE_S,
    )
    model = serving.model.name
    return Service(command=command, waiting_for=lambda: missing(plan.url, model), deadline_s=serving.deadline_s)


def missing(url: str, model: str) -> str | None:
    """Ready is a generated token: a frozen engine answers /health with 200 too."""
    health = ask(f"{url}/health")
    if not health.is_good:
        return f"/health says {health.status or health.text}"
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    token = ask(f"{url}/v1/chat/completions", body=body, timeout_s=_FIRST_TOKEN_S)
    return None if token.is_good else f"a one-token request ended in {token.status or token.text}"
