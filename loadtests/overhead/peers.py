"""What is compared, and how each router is started: one worker, sticky sessions, metrics and breakers on."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from loadtests.overhead.wire import MODEL


class Peer(StrEnum):
    """What stands between the load and the engine."""

    DIRECT = "direct"
    MEMORY = "drillyard"
    REDIS = "drillyard-redis"
    VLLM = "vllm-router"
    SGLANG = "sglang-router"
    LITELLM = "litellm"
    GATEWAY = "drillyard-gateway"
    """Not the router alone, but all of it: who speaks to it takes turns of sessions."""


OWN = (Peer.MEMORY, Peer.REDIS)
RIVALS = {
    Peer.VLLM: "vllm-router==0.1.17",
    Peer.SGLANG: "sglang-router==0.3.2",
    Peer.LITELLM: "litellm[proxy]==1.108.7",
}
"""Two in Rust, and the gateway in Python that is used most."""

_MANY = "1000000"
_LITELLM_CONFIG = "litellm.json"


@dataclass(frozen=True, slots=True)
class Setting:
    """Where things are in one run."""

    port: int
    metrics_port: int
    replicas: Sequence[str]
    redis_url: str
    peers_venv: Path | None
    folder: Path
    """Where files of this run may lie."""
    model: str = MODEL
    """As the replicas name it."""


def is_installed(rival: Peer, peers_venv: Path) -> bool:
    return (peers_venv / "bin" / rival.value).exists()


def header_of(peer: Peer) -> str:
    """The header that names the session."""
    return {Peer.SGLANG: "x-smg-routing-key", Peer.LITELLM: "x-litellm-session-id"}.get(peer, "x-session-id")


def ready_path_of(peer: Peer) -> str:
    """What answers 200 once it can be asked."""
    if peer is Peer.DIRECT:
        return "/health"
    if peer is Peer.LITELLM:
        return "/health/liveliness"
    return "/readyz" if peer in OWN else "/readiness"


def files_of(peer: Peer, at: Setting) -> Mapping[str, str]:
    """What has to lie in the folder before it starts, by name."""
    return {_LITELLM_CONFIG: json.dumps(_litellm_config(at), indent=1)} if peer is Peer.LITELLM else {}


def command_of(peer: Peer, at: Setting) -> Sequence[str]:
    match peer:
        case Peer.DIRECT:
            return (sys.executable, "-m", "loadtests.overhead.engine", "--port", str(at.port))
        case Peer.MEMORY:
            return _drillyard(at)
        case Peer.REDIS:
            return (*_drillyard(at), "--redis-url", at.redis_url)
        case Peer.VLLM:
            return (_rival(peer, at), *_rust_options(at), "--policy", "consistent_hash")
        case Peer.SGLANG:
            return (_rival(peer, at), "launch", *_rust_options(at), "--policy", "manual")
        case Peer.LITELLM:
            config = str(at.folder / _LITELLM_CONFIG)
            where = ("--host", "127.0.0.1", "--port", str(at.port))
            return (_rival(peer, at), "--config", config, *where, "--num_workers", "1", "--telemetry", "False")
        case Peer.GATEWAY:
            raise ValueError("the whole gateway is more than one process: see whole_gateway.py")
        case never:
            assert_never(never)


def _drillyard(at: Setting) -> Sequence[str]:
    replicas = [word for number, url in enumerate(at.replicas) for word in ("--replica", f"r{number}={url}")]
    # The others have no such limit; at 256 a session would rather move than wait.
    limit = ("--set", "max_in_flight=10000")
    return (sys.executable, "-m", "gateway.cli.main", "router", "--port", str(at.port), *limit, *replicas)


def _rival(peer: Peer, at: Setting) -> str:
    return str((at.peers_venv or Path()) / "bin" / peer.value)


def _rust_options(at: Setting) -> Sequence[str]:
    # Neither may refuse or queue what the others carry, and only warnings are logged.
    options = {
        "--host": "127.0.0.1",
        "--port": str(at.port),
        "--prometheus-port": str(at.metrics_port),
        "--prometheus-host": "127.0.0.1",
        "--log-level": "error",
        "--max-concurrent-requests": _MANY,
    }
    return ("--worker-urls", *at.replicas, *(word for option in options.items() for word in option))


def _litellm_config(at: Setting) -> Mapping[str, object]:
    """Two deployments of one model. Sessions stay at theirs by a check before each call, which is off unless named."""
    deployments = [
        {
            "model_name": at.model,
            "litellm_params": {"model": f"hosted_vllm/{at.model}", "api_base": f"{url}/v1", "api_key": "none"},
        }
        for url in at.replicas
    ]
    return {
        "model_list": deployments,
        "router_settings": {"optional_pre_call_checks": ["session_affinity"], "routing_strategy": "simple-shuffle"},
        "litellm_settings": {"set_verbose": False},
        # Nobody has to sign in at the others either.
        "general_settings": {"dangerously_permit_weak_or_unset_master_key": True},
    }
