"""How the gateway is run as a child: its environment, its migrations, and when it is ready."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.local.bundled_model import Model
from gateway.local.children import Service
from gateway.local.errors import LocalStackError, PortTaken
from gateway.local.free_port import free_port, is_free
from gateway.local.http_probe import Answer, ask
from gateway.local.our_python import our_module
from gateway.local.process import Command

USUAL_PORT = 8080
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104  only compared with
_LONGEST_REASON = 300
_DEADLINE_S = 90.0
_GRACE_S = 25.0  # longer than the gateway's own patience with running turns


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaAddress:
    id: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the gateway is told; None or empty leaves the caller's own variable as it is."""

    redis_url: str
    database_url: str = field(repr=False)
    host: str
    port: int
    instance: str
    window_tokens: int
    model: Model | None
    replicas: tuple[ReplicaAddress, ...]
    further: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables beside these."""


def gateway_environment(wanted: Wanted, caller: Mapping[str, str]) -> Mapping[str, str]:
    ours = {
        "DRILLYARD_REDIS_URL": wanted.redis_url,
        "DRILLYARD_DATABASE_URL": wanted.database_url,
        "DRILLYARD_HOST": wanted.host,
        "DRILLYARD_PORT": str(wanted.port),
        "DRILLYARD_INSTANCE": wanted.instance,
    }
    if wanted.model is not None:
        ours["DRILLYARD_MODEL__NAME"] = wanted.model.name
        ours["DRILLYARD_MODEL__FOLDER"] = str(wanted.model.folder)
        ours["DRILLYARD_MODEL__WINDOW_TOKENS"] = str(wanted.window_tokens)
    if wanted.replicas:
        rows = [{"id": replica.id, "url": replica.url} for replica in wanted.replicas]
        ours["DRILLYARD_REPLICAS"] = json.dumps(rows)
        ours["DRILLYARD_ROUTER__ENGINE_PRIORITY"] = "true"
    return {**caller, **ours, **wanted.further}


def replicas_of(caller: Mapping[str, str]) -> tuple[ReplicaAddress, ...]:
    """The replicas a caller's own variable names; what it means is checked by the gateway's settings."""
    try:
        rows = json.loads(caller.get("DRILLYARD_REPLICAS", "[]"))
        return tuple(ReplicaAddress(id=str(row["id"]), url=str(row["url"])) for row in rows)
    except (ValueError, KeyError, TypeError):
        return ()


def chosen_port(host: str, asked: int | None, *, say: Callable[[str], None]) -> int:
    """None: the usual port, or any free one when that is taken; 0: any free one; else that one or none."""
    try:
        if not asked:
            return free_port(host) if asked == 0 else _usual_port(host, say)
        free = is_free(asked, host)
    except OSError as error:
        raise LocalStackError(
            f"this machine cannot listen on {host}: {error.strerror or error}", hint="leave --host away"
        ) from error
    if not free:
        raise port_taken(host, asked)
    return asked


def _usual_port(host: str, say: Callable[[str], None]) -> int:
    if is_free(USUAL_PORT, host):
        return USUAL_PORT
    port = free_port(host)
    say(f"port {USUAL_PORT} is taken; using {port}")
    return port


def port_taken(host: str, port: int) -> PortTaken:
    return PortTaken(
        f"port {port} on {host} is taken (or may not be used)",
        hint="stop what uses it, name another one with --port, or leave --port away to get a free one",
    )


def base_url(host: str, port: int, caller: Mapping[str, str]) -> str:
    """Whoever called with a certificate in the environment gets HTTPS."""
    shown = _EVERYWHERE.get(host, f"[{host}]" if ":" in host else host)
    scheme = "https" if caller.get("DRILLYARD_TLS__CERTIFICATE") else "http"
    return f"{scheme}://{shown}:{port}"


def migration(module: str, environment: Mapping[str, str], *, log: Path) -> Command:
    return our_module(module, "db", "migrate", name="migrate", log=log, environment=environment)


def gateway_service(
    module: str, wanted: Wanted, caller: Mapping[str, str], *, log: Path, has_replicas: bool
) -> Service:
    environment, url = gateway_environment(wanted, caller), base_url(wanted.host, wanted.port, caller)
    command = our_module(module, "serve", name="gateway", log=log, environment=environment, grace_s=_GRACE_S)
    return Service(
        command=command,
        waiting_for=lambda: missing(url, instance=wanted.instance, has_replicas=has_replicas),
        deadline_s=_DEADLINE_S,
    )


def missing(url: str, *, instance: str, has_replicas: bool) -> str | None:
    """Without replicas the gateway is never ready for turns, only alive."""
    alive = ask(f"{url}/livez")
    if alive.is_good and _instance(alive.text) != instance:
        return f"another server answers at {url}"
    for path, answer in _answers(url, alive, has_replicas=has_replicas):
        if not answer.is_good:
            return f"{path} says {answer.status or 'nothing'}: {' '.join(answer.text.split())[:_LONGEST_REASON]}"
    return None


def _answers(url: str, alive: Answer, *, has_replicas: bool) -> Iterator[tuple[str, Answer]]:
    yield "/livez", alive
    if has_replicas:
        yield "/readyz", ask(f"{url}/readyz")


def _instance(text: str) -> str | None:
    try:
        return str(json.loads(text)["instance"])
    except (ValueError, KeyError, TypeError):
        return None
