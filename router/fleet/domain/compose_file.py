"""A Compose file with a service for each replica that fits: one to a GPU, or to a few, each with GPUs of its own.

It follows docker-compose.yml in all that a replica is told. It differs in two things: a service is not restarted, for
the controller is to see that it ended; and it says by its labels whose it is and where it answers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Final

import yaml

from router.fleet.domain.compose_services import POOL_LABEL, URL_LABEL
from router.fleet.domain.vllm_flags import Flags, words

IMAGE: Final = "vllm/vllm-openai:v0.33.0"
"""As docker-compose.yml has it."""
PORT: Final = 8000
LAST_PORT: Final = 65_535
SPARE_S: Final = 15
"""From the end of the engine's own wait to SIGKILL."""
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - only compared with
MOUNT: Final = "/models/current"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*", re.ASCII)
_GPU: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_HEALTH: Final = (
    f"import urllib.request as web; web.urlopen('http://127.0.0.1:{PORT}/health', timeout=4)"  # as docker-compose.yml
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposePlan:
    """Raises `ValueError` where it cannot be written."""

    model: str
    """As the replicas list it in /v1/models, and the pool is named."""
    weights: str
    """The folder on the host."""
    gpus: Sequence[Sequence[str]]
    """Of each replica, by their indices or ids."""
    flags: Flags
    name: str = "vllm"
    image: str = IMAGE
    address: str = "127.0.0.1"
    port: int = 8100
    """Of the first; the next ones have the next."""
    network: str | None = None
    """The network of a gateway that runs in Compose too: replicas are then reached there, by their names."""

    def __post_init__(self) -> None:
        every = [gpu for one in self.gpus for gpu in one]
        self._check_names()
        IPv4Address(self.address)
        if not self.model or not all(self.gpus) or not every:
            raise ValueError("a replica has a model and a GPU")
        if wrong := [gpu for gpu in every if not _GPU.fullmatch(gpu)]:
            raise ValueError(f"{wrong[0]!r} is no GPU's index or id")
        if len(set(every)) < len(every):
            raise ValueError("a GPU is named twice")
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name for services: small letters, digits, hyphens")
        if not self.weights.startswith("/") or ":" in self.weights:
            raise ValueError(f"{self.weights!r}: the folder of the weights is a whole path without a colon")
        if not 1 <= self.port <= LAST_PORT + 1 - len(self.gpus):
            raise ValueError(f"{len(self.gpus)} ports from {self.port} on: there are none")

    def _check_names(self) -> None:
        if not self.model.isprintable() or not self.weights.isprintable():
            raise ValueError("a name holds what cannot be shown")
        if not self.image or self.network == "":
            raise ValueError("an image and a network have names")

    @property
    def shutdown_s(self) -> int:
        told = self.flags.get("shutdown-timeout")
        return told if isinstance(told, int) else 0


def compose_text(plan: ComposePlan) -> str:
    services = {f"{plan.name}-{number}": _service(plan, number) for number in range(len(plan.gpus))}
    file: dict[str, object] = {
        "services": services,
        "volumes": {f"{service}-cache": {} for service in services},
    }
    if plan.network is not None:
        file["networks"] = {"replicas": {"external": True, "name": _escaped(plan.network)}}
    head = (
        f"# Replicas of {plan.model}, written by `drillyard fleet compose`.\n"
        "# `drillyard fleet run` starts and stops them, one by one; `docker compose up` alone would start all.\n\n"
    )
    return head + yaml.safe_dump(file, sort_keys=False, allow_unicode=True, width=1_000_000)


def _service(plan: ComposePlan, number: int) -> Mapping[str, object]:
    name, gpus = f"{plan.name}-{number}", list(plan.gpus[number])
    service: dict[str, object] = {
        "image": _escaped(plan.image),
        "entrypoint": ["vllm", "serve"],
        "command": [_escaped(word) for word in _command(plan, len(gpus))],
        "environment": {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"},
        "labels": {POOL_LABEL: _escaped(plan.model), URL_LABEL: _url(plan, number)},
        "restart": "no",
        "logging": {"driver": "json-file", "options": {"max-size": "10m", "max-file": "5"}},
        "security_opt": ["no-new-privileges:true"],
        "shm_size": "2gb",
        "stop_grace_period": f"{plan.shutdown_s + SPARE_S}s",
        "volumes": [f"{_escaped(plan.weights)}:{MOUNT}:ro", f"{name}-cache:/root/.cache/vllm"],
        "healthcheck": {
            "test": ["CMD", "python3", "-c", _HEALTH],
            "interval": "10s",
            "timeout": "5s",
            "retries": 3,
            "start_period": "10m",
        },
        "deploy": {
            "resources": {
                "reservations": {"devices": [{"driver": "nvidia", "device_ids": gpus, "capabilities": ["gpu"]}]}
            }
        },
    }
    if plan.network is None:
        service["ports"] = [f"{plan.address}:{plan.port + number}:{PORT}"]
    else:
        service["networks"] = ["replicas"]
    return service


def _command(plan: ComposePlan, gpus: int) -> Sequence[str]:
    """What the service must know comes last, for the last word counts."""
    told = dict(plan.flags) if gpus == 1 else {**plan.flags, "tensor-parallel-size": gpus}
    return [MOUNT, *words(told), f"--served-model-name={plan.model}", "--host=0.0.0.0", f"--port={PORT}"]


def _url(plan: ComposePlan, number: int) -> str:
    if plan.network is not None:
        return f"http://{plan.name}-{number}:{PORT}"
    here = "127.0.0.1" if plan.address == EVERYWHERE else plan.address
    return f"http://{here}:{plan.port + number}"


def _escaped(text: str) -> str:
    """Compose takes a single `$` for the beginning of a variable."""
    return text.replace("$", "$$")
