"""How the process is run that looks after the replicas, and when it may be called ready."""

import json
from collections.abc import Mapping
from pathlib import Path

from gateway.local.children import Service
from gateway.local.http_probe import ask
from gateway.local.our_python import our_module

NAME = "fleet"
_HOST = "127.0.0.1"
_DEADLINE_S = 60.0
_GRACE_S = 10.0


def fleet_service(module: str, environment: Mapping[str, str], *, port: int, log: Path) -> Service:
    """`port` is where it tells of itself."""
    own = {**environment, "DRILLYARD_HOST": _HOST, "DRILLYARD_FLEET__METRICS_PORT": str(port)}
    command = our_module(module, "fleet", "run", name=NAME, log=log, environment=own, grace_s=_GRACE_S)
    instance = environment["DRILLYARD_INSTANCE"]
    return Service(command=command, waiting_for=lambda: missing(port, instance), deadline_s=_DEADLINE_S)


def missing(port: int, instance: str) -> str | None:
    """Ready is that it leads: another one that still does would look after replicas that are gone."""
    answer = ask(f"http://{_HOST}:{port}/livez")
    if not answer.is_good:
        return f"/livez says {answer.status or answer.text}"
    try:
        told = json.loads(answer.text)
        if told["instance"] != instance:
            return f"another server answers on port {port}"
        return None if told["leads"] else "another process looks after the fleet"
    except (ValueError, KeyError, TypeError):
        return f"another server answers on port {port}"
