"""The routers that are compared, and how each is started: one worker, sticky sessions, metrics and breakers on."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never


class Peer(StrEnum):
    """What stands between the load and the engine."""

    DIRECT = "direct"
    MEMORY = "drillyard"
    REDIS = "drillyard-redis"
    VLLM = "vllm-router"
    SGLANG = "sglang-router"


OWN = (Peer.MEMORY, Peer.REDIS)
RIVALS = {Peer.VLLM: "vllm-router==0.1.17", Peer.SGLANG: "sglang-router==0.3.2"}
"""Both are Rust. The Python ones are far behind these: see docs/benchmarks.md."""

_MANY = "1000000"


@dataclass(frozen=True, slots=True)
class Setting:
    """Where things are in one run."""

    port: int
    metrics_port: int
    replicas: Sequence[str]
    redis_url: str
    peers_venv: Path | None


def header_of(peer: Peer) -> str:
    """The header that names the session."""
    return "x-smg-routing-key" if peer is Peer.SGLANG else "x-session-id"


def ready_path_of(peer: Peer) -> str:
    """What answers 200 once it can be asked."""
    if peer is Peer.DIRECT:
        return "/health"
    return "/readyz" if peer in OWN else "/readiness"


def command_of(peer: Peer, at: Setting) -> Sequence[str]:
    match peer:
        case Peer.DIRECT:
            return (sys.executable, "-m", "loadtests.overhead.engine", "--port", str(at.port))
        case Peer.MEMORY:
            return _drillyard(at)
        case Peer.REDIS:
            return (*_drillyard(at), "--redis-url", at.redis_url)
        case Peer.VLLM:
            return (*_rust("vllm-router", at), *_rust_options(at), "--policy", "consistent_hash")
        case Peer.SGLANG:
            return (*_rust("sglang-router", at), "launch", *_rust_options(at), "--policy", "manual")
        case never:
            assert_never(never)


def _drillyard(at: Setting) -> Sequence[str]:
    replicas = [word for number, url in enumerate(at.replicas) for word in ("--replica", f"r{number}={url}")]
    # The others have no such limit; at 256 a session would rather move than wait.
    limit = ("--set", "max_in_flight=10000")
    return (sys.executable, "-m", "gateway.cli.main", "router", "--port", str(at.port), *limit, *replicas)


def _rust(program: str, at: Setting) -> Sequence[str]:
    return (str((at.peers_venv or Path()) / "bin" / program),)


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
