"""`drillyard router` as a gateway uses it: in front of replicas that are there, with an operator's key."""

from collections.abc import Mapping
from pathlib import Path

from tests.support.router_process import RouterProcess

OPERATOR_KEY = "an-operators-key"


def router_elsewhere(
    replicas: Mapping[str, str],
    settings: Mapping[str, object],
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
) -> RouterProcess:
    keys = folder / "operators"
    keys.write_text(f"{OPERATOR_KEY}\n")
    arguments = [word for name, url in replicas.items() for word in ("--replica", f"{name}={url}")]
    arguments += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    arguments += ["--operator-key-file", str(keys)]
    return RouterProcess(*arguments, log=folder / "router.log", environment=environment)
