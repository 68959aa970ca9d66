"""Whom a load drill may be aimed at, and with which keys."""

import ipaddress
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


class TargetRefused(Exception):
    """The drill must not be aimed there, or does not know where to aim."""


@dataclass(frozen=True, slots=True)
class Target:
    base_url: str
    keys: tuple[str, ...]
    scenario: str


def target(
    *, data: Path, base_url: str | None = None, keys_file: Path | None = None, scenario: str | None = None
) -> Target:
    """What was named, else what the ready file of a stack running from `data` says; raises `TargetRefused`."""
    ready = _ready(data / "ready.json")
    found = base_url or str(ready.get("base_url", ""))
    keys = _keys(keys_file) if keys_file is not None else _trainee_keys(ready)
    chosen = scenario or _first_scenario(ready)
    if not (found and keys and chosen):
        raise TargetRefused(
            f"no running stack in {data}: start one with `drillyard up`, or name --host, --keys-file and --scenario"
        )
    return Target(found.rstrip("/"), keys, chosen)


def require_local(base_url: str, *, named: str | None) -> None:
    """Only loopback may be loaded, unless the other host was named once more, on purpose."""
    host = urlsplit(base_url).hostname or ""
    if not _is_loopback(host) and named != host:
        raise TargetRefused(f"{host} is not this machine; to load it on purpose repeat its name: --not-local {host}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _ready(file: Path) -> dict[str, object]:
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _keys(file: Path) -> tuple[str, ...]:
    lines = (line.strip() for line in file.read_text().splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def _trainee_keys(ready: dict[str, object]) -> tuple[str, ...]:
    keys = ready.get("keys")
    trainees = keys.get("trainees") if isinstance(keys, dict) else None
    return tuple(str(key) for key in trainees) if isinstance(trainees, list) else ()


def _first_scenario(ready: dict[str, object]) -> str:
    scenarios = ready.get("scenarios")
    first = scenarios[0] if isinstance(scenarios, list) and scenarios else {}
    return str(first.get("id", "")) if isinstance(first, dict) else ""
