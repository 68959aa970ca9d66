"""Whom a worker aims at, and with which keys; they come in a file that only its owner can read."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

RUN, AIM = "DRILLYARD_LOAD_RUN", "DRILLYARD_LOAD_AIM"
"""In the environment of a Locust process: the folder of its run, and the file of its aim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    base_urls: tuple[str, ...]
    keys: tuple[str, ...] = field(default=(), repr=False)
    service_key: str | None = field(default=None, repr=False)
    scenario: str = ""
    model: str = ""
    system: str = ""
    """What a chat begins with, where the client keeps the history."""
    replicas: Mapping[str, str] = field(default_factory=dict)
    """By base URL, what each replica is called by everybody else."""
    tokenize_url: str = ""
    """Of a replica, which counts tokens where what is aimed at does not."""
    bell_at: float | None = None
    """An instant of the wall clock; None: soon."""

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    def key_of(self, trainee: int) -> str | None:
        return self.keys[trainee % len(self.keys)] if self.keys else None

    def chat_key_of(self, trainee: int) -> str | None:
        """Raw models are asked by a service where there is one."""
        return self.service_key or self.key_of(trainee)


def read_aim(file: Path) -> Aim:
    told = json.loads(file.read_text(encoding="utf-8"))
    return Aim(**{**told, "base_urls": tuple(told["base_urls"]), "keys": tuple(told["keys"])})
