"""The pools as they are set: how large, how early, and where their replicas run."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from router.fleet.domain.compose_services import POOL_LABEL
from router.fleet.domain.pool_rules import PoolRules

_ADDRESS = re.compile(r"https?://[^\s/]\S*")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProcessHostSettings(_Frozen):
    """Replicas as processes of this machine, one to a slot; `{id}`, `{port}`, `{slot}`, `{weights}` are filled in."""

    kind: Literal["processes"] = "processes"
    command: tuple[str, ...] = Field(min_length=1, description="what runs one replica, word by word")
    environment: dict[str, str] = Field(default_factory=dict, description="beside the controller's own")
    slots: tuple[str, ...] = Field(min_length=1, description="one for each replica that fits: GPU indices, cores")
    folder: Path = Field(description="where it is kept what runs, and logs")
    grace_s: float = Field(default=60.0, ge=0, le=3600, description="from SIGTERM to SIGKILL")


class ComposeHostSettings(_Frozen):
    """Replicas as services of a Compose file, one for each GPU; they are started and stopped by name."""

    kind: Literal["compose"] = "compose"
    file: Path
    project: str = Field(default="drillyard-fleet", pattern=r"^[a-z0-9][a-z0-9_-]*$")
    program: tuple[str, ...] = Field(default=("docker", "compose"), min_length=1)
    label: str = Field(default=POOL_LABEL, description="services that bear it, with the pool's model, are its")
    grace_s: float = Field(
        default=120.0, ge=0, le=3600, description="how long a removal may take: above the services' stop_grace_period"
    )


class KubernetesHostSettings(_Frozen):
    """Replicas as pods of a Deployment, whose scale is changed."""

    kind: Literal["kubernetes"] = "kubernetes"
    deployment: str
    namespace: str | None = Field(default=None, description="by default the one this process runs in")
    port: int = Field(default=8000, ge=1, le=65_535)
    gate: str = Field(default="drillyard.io/warm", description="the readiness gate that says a pod was warmed")
    kubeconfig: Path | None = None


HostSettings = Annotated[
    ProcessHostSettings | ComposeHostSettings | KubernetesHostSettings, Field(discriminator="kind")
]


class WeightsSettings(_Frozen):
    """Weights that are fetched before a replica starts; the digest is that of the list of their files."""

    source: str = Field(description="s3://, gs://, az://, https:// or file:// folder, or hub:owner/name@revision")
    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    folder: Path = Field(description="the local cache, for these weights alone")
    hub: str = Field(default="", pattern=r"^(https?://\S+)?$", description="the address of the hub, for hub: sources")
    hub_token: SecretStr | None = Field(default=None, description="for what is not public there")


class PoolSettings(_Frozen):
    """One pool: the replicas of one model."""

    model: str = Field(min_length=1, description="as the replicas list it in /v1/models")
    seats_per_replica: int = Field(ge=1, description="sessions a replica holds; `drillyard capacity` tells")
    maximum: int = Field(ge=0, le=2_000, description="replicas at most")
    minimum: int = Field(default=0, ge=0, description="replicas at any time")
    reserve: int = Field(default=0, ge=0, description="replicas beyond what the seats need, while there are any seats")
    lead_s: float = Field(default=1800.0, ge=0, le=86_400, description="how long before a bell, at least")
    safety: float = Field(default=1.5, ge=1, le=10)
    unmeasured_start_s: float = Field(default=180.0, gt=0, le=7200, description="until five starts were measured")
    spare_starts: int = Field(default=1, ge=0, le=10)
    starts_at_once: int = Field(default=4, ge=1, le=1_000)
    moves_sessions: bool = True
    alert_s: float = Field(default=600.0, gt=0, le=86_400)
    host: HostSettings | None = Field(default=None, description="None: the plan is shown, and nobody carries it out")
    dry_run: bool = Field(default=False, description="look at the host, and only say what would be done")
    weights: WeightsSettings | None = None

    @property
    def rules(self) -> PoolRules:
        return PoolRules(
            seats_per_replica=self.seats_per_replica,
            maximum=self.maximum,
            minimum=self.minimum,
            reserve=self.reserve,
            lead_s=self.lead_s,
            safety=self.safety,
            unmeasured_start_s=self.unmeasured_start_s,
            spare_starts=self.spare_starts,
            starts_at_once=self.starts_at_once,
            moves_sessions=self.moves_sessions,
            alert_s=self.alert_s,
        )

    @model_validator(mode="after")
    def _can_work(self) -> Self:
        self.rules  # noqa: B018 - the rules say themselves what contradicts
        if self.weights is not None and isinstance(self.host, KubernetesHostSettings):
            raise ValueError("weights: pods fetch theirs in an init container, which `drillyard fleet weights` is for")
        return self


class FleetSettings(_Frozen):
    """What the controller is told, and the gateway that shows the plan."""

    pools: tuple[PoolSettings, ...] = ()
    interval_s: float = Field(default=5.0, gt=0, le=60, description="between two rounds")
    session_idle_s: float = Field(
        default=900.0, ge=60, le=86_400, description="a session nobody used for so long holds no replica"
    )
    alert_webhook: SecretStr | None = Field(
        default=None, description="a URL that is told by POST; it may hold a secret"
    )
    drain_within_s: float = Field(default=120.0, gt=0, le=86_400)
    dead_after_s: float = Field(
        default=60.0, ge=5, le=3600, description="one that serves and generates nothing for so long is replaced"
    )
    leader_idle_s: float = Field(
        default=15.0, ge=1, le=300, description="a leader that stands still for so long has lost its lead"
    )
    metrics_port: int = Field(default=9_108, ge=0, le=65_535, description="/livez and /metrics of the controller")

    @field_validator("alert_webhook")
    @classmethod
    def _is_address(cls, value: SecretStr | None) -> SecretStr | None:
        """Said at the start, and not when replicas are missing; without the address itself."""
        address = "" if value is None else value.get_secret_value()
        if address and not _ADDRESS.fullmatch(address):
            raise ValueError("this is no http:// or https:// address")
        return value if address else None

    @model_validator(mode="after")
    def _once_each(self) -> Self:
        names = [pool.model for pool in self.pools]
        if len(set(names)) != len(names):
            raise ValueError("pools: two have the same model")
        folders = [pool.host.folder for pool in self.pools if isinstance(pool.host, ProcessHostSettings)]
        if len(set(folders)) != len(folders):
            raise ValueError(
                "pools: two keep what runs in the same folder, and each would take the other's for its own"
            )
        return self
