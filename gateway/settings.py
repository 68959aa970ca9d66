"""All settings of a process; the only file that reads the environment.

Every setting is an environment variable with the prefix `DRILLYARD_`; a nested one is joined by two underscores, such
as `DRILLYARD_MODEL__WINDOW_TOKENS`.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AliasChoices,
    AnyHttpUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PostgresDsn,
    RedisDsn,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from gateway.access_settings import AccessSettings
from gateway.edge_settings import EdgeSettings, TlsSettings
from gateway.guard_settings import GuardSettings
from gateway.journal_settings import JournalSettings
from gateway.limit_settings import LimitSettings
from gateway.moderation_settings import ModerationSettings
from gateway.openai_settings import OpenAiSettings
from gateway.pools_file import read_pools
from gateway.store_settings import RecordsSettings, RedisSettings
from router.fleet.settings import FleetSettings
from router.settings import RouterSettings
from sessions.domain.budget import fitting
from sessions.domain.tiers import Offer, Tier, offer_of
from sessions.errors import ContextImpossible
from sessions.job_settings import JobSettings
from sessions.search_settings import SearchSettings
from sessions.settings import SessionSettings


class ReplicaSettings(BaseModel):
    """One vLLM server of the static fleet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
    url: AnyHttpUrl


class ModelSettings(BaseModel):
    """A served model."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    name: str = Field(min_length=1, description="as the replicas list it in /v1/models")
    folder: Path = Field(description="a folder with the model's tokenizer.json and chat template")
    window_tokens: int = Field(default=4096, ge=512, le=1_048_576)
    temperature: float = Field(default=0.7, ge=0, le=2)


def _listed(value: object) -> object:
    """One name may stand without its list."""
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Settings(BaseSettings):
    """Read once at start and frozen. Two of the values hold passwords: log hosts and names, never the URLs."""

    model_config = SettingsConfigDict(env_prefix="DRILLYARD_", env_nested_delimiter="__", frozen=True, extra="ignore")

    redis_url: RedisDsn
    database_url: PostgresDsn
    model: ModelSettings
    models: tuple[ModelSettings, ...] = Field(default=(), description="further models, beside the default one")
    tiers: dict[Tier, str] = Field(default_factory=dict, description="which model serves a kind of work")
    tier_fallbacks: dict[Tier, Names] = Field(
        default_factory=dict,
        description="models, or tiers for their models, that stand in for a tier's pool that is away; [] for none",
    )
    replicas: tuple[ReplicaSettings, ...] = ()
    router: RouterSettings = Field(default_factory=RouterSettings)
    router_url: AnyHttpUrl | None = Field(
        default=None, description="a `drillyard router` that carries the turns; by default this process does it itself"
    )
    router_key: SecretStr | None = Field(default=None, description="an operator key of that router")
    sessions: SessionSettings = Field(default_factory=SessionSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)
    knowledge: SearchSettings = Field(default_factory=SearchSettings)
    records: RecordsSettings = Field(default_factory=RecordsSettings)
    redis: RedisSettings = Field(default_factory=RedisSettings)
    journal: JournalSettings = Field(default_factory=JournalSettings)
    guard: GuardSettings = Field(default_factory=GuardSettings)
    openai: OpenAiSettings = Field(default_factory=OpenAiSettings)
    moderation: ModerationSettings = Field(default_factory=ModerationSettings)
    limits: LimitSettings = Field(default_factory=LimitSettings)
    fleet: FleetSettings = Field(default_factory=FleetSettings)
    pools_file: Path | None = Field(default=None, description="a YAML file with the fleet's pools, below `pools:`")
    access: AccessSettings = Field(default_factory=AccessSettings)
    instance: str = Field(
        default_factory=lambda: secrets.token_hex(8), min_length=1, max_length=64, description="told by /livez"
    )
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65_535)
    tls: TlsSettings = Field(default_factory=TlsSettings)
    edge: EdgeSettings = Field(default_factory=EdgeSettings)
    body_limit_bytes: int = Field(default=262_144, ge=1024, le=16_777_216)
    heartbeat_s: float = Field(default=10.0, gt=0, le=60)
    shutdown_pause_s: float = Field(
        default=0.0,
        ge=0,
        le=300,
        description="so long after SIGTERM everything goes on but readiness, for balancers to look elsewhere",
    )
    shutdown_grace_s: float = Field(default=20.0, ge=0, le=600)
    tier_cache_s: float = Field(
        default=5.0, ge=0, le=300, description="a tenant's choice of models reaches every process within this"
    )
    key_cache_s: float = Field(default=5.0, ge=0, le=300, description="a revoked key works at most this long")
    key_stale_s: float = Field(
        default=900.0, ge=0, le=86_400, description="while Postgres is away, a known key works at most this long"
    )
    otlp_endpoint: AnyHttpUrl | None = Field(
        default=None,
        validation_alias=AliasChoices("DRILLYARD_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="where spans are sent by OTLP over HTTP, as http://collector:4318; by default nowhere",
    )
    log_level: str = Field(default="info", pattern="^(debug|info|warning|error)$")
    log_format: str = Field(default="json", pattern="^(json|console)$")

    @model_validator(mode="before")
    @classmethod
    def _with_pools(cls, given: object) -> object:
        """The file's pools stand where those of the environment would."""
        if not isinstance(given, dict) or not (path := given.get("pools_file")):
            return given
        fleet = given.get("fleet") or {}
        if not isinstance(fleet, dict) or fleet.get("pools"):
            raise ValueError("DRILLYARD_POOLS_FILE and DRILLYARD_FLEET__POOLS both name pools; take one of them")
        return {**given, "fleet": {**fleet, "pools": read_pools(Path(path))}}

    @model_validator(mode="after")
    def _can_work(self) -> Self:
        names = [replica.id for replica in self.replicas]
        if len(set(names)) != len(names):
            raise ValueError("replicas: two have the same id")
        if names and self.router_url is not None:
            raise ValueError("replicas: with a router_url the fleet is that router's; name the replicas there")
        for trouble in _troubles(self):
            raise ValueError(trouble)
        return self

    @property
    def all_models(self) -> tuple[ModelSettings, ...]:
        """Every served model, the default one first."""
        return (self.model, *self.models)

    @property
    def offer(self) -> Offer:
        names = [model.name for model in self.all_models]
        return offer_of(self.model.name, names, self.tiers, self.tier_fallbacks)


def _troubles(settings: Settings) -> Iterator[str]:
    """Why the models cannot work as they are set."""
    names = [model.name for model in settings.all_models]
    if len(set(names)) != len(names):
        yield "models: two have the same name"
    for tier, name in settings.tiers.items():
        if name not in names:
            yield f"tiers: {tier} is to be served by {name!r}, and the models are {', '.join(names)}"
    for tier, fallbacks in settings.tier_fallbacks.items():
        for name in sorted(set(fallbacks) - {*names, *Tier}):
            yield f"tier_fallbacks: {name!r}, which {tier} falls back to, is neither a model nor a tier"
    for model in settings.all_models:
        yield from _misfits(model, settings)


def _misfits(model: ModelSettings, settings: Settings) -> Iterator[str]:
    try:
        fitting(settings.sessions.shares(model.window_tokens))
    except ContextImpossible as error:
        yield f"{model.name}: {error}" if settings.models else str(error)


def load() -> Settings:
    """The settings of this process; raises `ValidationError`."""
    return Settings()


def reasons(error: ValidationError | SettingsError) -> list[str]:
    """One line per wrong setting, named as its environment variable; never its value, which may be a secret."""
    if isinstance(error, SettingsError):
        return [_unparsed(error)]
    return [f"{_variable(item['loc'])}: {item['msg'].removeprefix('Value error, ')}" for item in error.errors()]


def _unparsed(error: SettingsError) -> str:
    """It names the field in quotes, and ends the reading: other variables may be wrong too. Of a field with parts it
    does not say which one.
    """
    _, _, after = str(error).partition('"')
    field, _, _ = after.partition('"')
    name = _variable((field,))
    return f"{name} or one of {name}__...: this is not JSON" if _has_parts(field) else f"{name}: this is not JSON"


def _has_parts(field: str) -> bool:
    found = Settings.model_fields.get(field)
    return found is not None and isinstance(found.annotation, type) and issubclass(found.annotation, BaseModel)


def _variable(location: tuple[int | str, ...]) -> str:
    name = "__".join(str(part).upper() for part in location)
    if not name or name.startswith(("DRILLYARD_", "OTEL_")):
        return name or "settings"
    return f"DRILLYARD_{name}"
