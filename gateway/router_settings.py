"""All settings of a `drillyard router`: the variables that the gateway reads too mean the same here.

It needs no database and no model folder. Every flag of the command is one of these, and stands above its variable.
"""

import ipaddress
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import AliasChoices, AnyHttpUrl, Field, RedisDsn, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from gateway.settings import ReplicaSettings
from router.settings import RouterSettings

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]


class PoolReplicaSettings(ReplicaSettings):
    """A replica of any pool."""

    models: tuple[str, ...] = Field(default=(), description="what it serves; by default whatever it lists itself")


class RouterProcessSettings(BaseSettings):
    """Read once at start and frozen. Some values are secrets: show `shown` and nothing else."""

    model_config = SettingsConfigDict(env_prefix="DRILLYARD_", env_nested_delimiter="__", frozen=True, extra="ignore")

    redis_url: RedisDsn | None = Field(
        default=None, description="shared by all router processes; without it pins live in this one alone"
    )
    replicas: tuple[PoolReplicaSettings, ...] = ()
    fleet_file: Path | None = Field(default=None, description="a JSON list of replicas, read again when it changes")
    kubernetes_service: str | None = Field(default=None, description="a service whose endpoints are the replicas")
    kubernetes_namespace: str | None = Field(default=None, description="by default the one this process runs in")
    kubernetes_port: str | None = Field(default=None, description="name or number of the endpoints' port")
    router: RouterSettings = Field(default_factory=RouterSettings)
    engine_key: SecretStr = Field(default=SecretStr(""), description="a bearer token that the replicas ask for")
    api_keys: tuple[SecretStr, ...] = Field(default=(), description="of clients; none: whoever reaches the port")
    operator_keys: tuple[SecretStr, ...] = Field(default=(), description="of operators; they are good for clients too")
    open: bool = Field(default=False, description="serve beyond this machine without an operator key")
    pin_cache: bool = Field(default=True, description="answer from memory for pins this process has used")
    instance: str = Field(
        default_factory=lambda: secrets.token_hex(8),
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
        description="its name",
    )
    host: str = "127.0.0.1"
    port: int = Field(default=8090, ge=0, le=65_535)
    body_limit_bytes: int = Field(default=4_194_304, ge=1024, le=67_108_864)
    shutdown_grace_s: float = Field(default=20.0, ge=0, le=600, description="running replies may take so long to end")
    otlp_endpoint: AnyHttpUrl | None = Field(
        default=None,
        validation_alias=AliasChoices("DRILLYARD_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="where spans are sent by OTLP over HTTP, as http://collector:4318; by default nowhere",
    )
    log_level: str = Field(default="info", pattern="^(debug|info|warning|error)$")
    log_format: str = Field(default="json", pattern="^(json|console)$")

    @model_validator(mode="after")
    def _can_work(self) -> Self:
        sources = [bool(self.replicas), self.fleet_file is not None, self.kubernetes_service is not None]
        if sum(sources) > 1:
            raise ValueError("replicas, fleet_file and kubernetes_service: only one can name the fleet")
        names = [replica.id for replica in self.replicas]
        if len(set(names)) != len(names):
            raise ValueError("replicas: two have the same id")
        if not (self.open or self.operator_keys or is_loopback(self.host)):
            raise ValueError(
                f"host: {self.host} is not this machine alone; set operator_keys (--operator-key-file), "
                "or open (--open) to do without"
            )
        return self


def load(given: Mapping[str, object]) -> RouterProcessSettings:
    """The settings of this process, `given` above the environment; raises `ValidationError`."""
    return RouterProcessSettings(**given)  # type: ignore[arg-type]  # checked by pydantic


def shown(settings: RouterProcessSettings) -> dict[str, Plain]:
    """What is in force, without secrets."""
    found: dict[str, Plain] = json.loads(settings.model_dump_json(exclude={"redis_url"}))
    found["replicas"] = [_without_userinfo(each) for each in settings.replicas]
    found["redis"] = None if settings.redis_url is None else _place(settings.redis_url)
    return found


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _place(url: RedisDsn) -> str:
    return f"{url.host}:{url.port}{url.path or ''}"


def _without_userinfo(replica: PoolReplicaSettings) -> dict[str, Plain]:
    url = replica.url
    place = f"{url.scheme}://{url.host}:{url.port}{url.path or ''}"
    return {"id": replica.id, "url": place, "models": list(replica.models)}
