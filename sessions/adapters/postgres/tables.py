"""The tables as the statements here see them; `sessions.migrations` makes them, and a test compares the two.

Checks stand in the migrations alone.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()

MOMENT = DateTime(timezone=True)

tenants = Table(
    "tenants",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("slug", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("tiers", JSONB, nullable=False, server_default=text("'{}'")),
    PrimaryKeyConstraint("id", name="tenants_pkey"),
    UniqueConstraint("slug", name="tenants_slug_key"),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("role", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("display_name", Text),
    PrimaryKeyConstraint("id", name="accounts_pkey"),
    UniqueConstraint("tenant_id", "id", name="accounts_tenant_id_id_key"),
    UniqueConstraint("tenant_id", "name", name="accounts_tenant_id_name_key"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="accounts_tenant_fkey"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("secret_sha256", LargeBinary, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("expires_at", MOMENT),
    Column("revoked_at", MOMENT),
    Column("label", Text),
    Column("scopes", ARRAY(Text)),
    Column("last_used_at", MOMENT),
    PrimaryKeyConstraint("id", name="api_keys_pkey"),
    ForeignKeyConstraint(
        ["tenant_id", "account_id"], ["accounts.tenant_id", "accounts.id"], name="api_keys_account_fkey"
    ),
    Index("api_keys_by_tenant", "tenant_id", "created_at", "id"),
    Index("api_keys_by_account", "tenant_id", "account_id"),
)

tenant_limits = Table(
    "tenant_limits",
    metadata,
    Column("tenant_id", Uuid, nullable=False),
    Column("requests_per_minute", Integer),
    Column("request_burst", Integer),
    Column("input_tokens_per_minute", Integer),
    Column("output_tokens_per_minute", Integer),
    Column("turns_in_flight", Integer),
    Column("sessions", Integer),
    PrimaryKeyConstraint("tenant_id", name="tenant_limits_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="tenant_limits_tenant_fkey"),
)

account_limits = Table(
    "account_limits",
    metadata,
    Column("account_id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("requests_per_minute", Integer),
    Column("request_burst", Integer),
    Column("input_tokens_per_minute", Integer),
    Column("output_tokens_per_minute", Integer),
    Column("turns_in_flight", Integer),
    PrimaryKeyConstraint("account_id", name="account_limits_pkey"),
    ForeignKeyConstraint(
        ["tenant_id", "account_id"], ["accounts.tenant_id", "accounts.id"], name="account_limits_account_fkey"
    ),
)

scenarios = Table(
    "scenarios",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("latest_version", Integer, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("id", name="scenarios_pkey"),
    UniqueConstraint("tenant_id", "id", name="scenarios_tenant_id_id_key"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="scenarios_tenant_fkey"),
    Index("scenarios_by_age", "tenant_id", "created_at", "id"),
)

scenario_versions = Table(
    "scenario_versions",
    metadata,
    Column("tenant_id", Uuid, nullable=False),
    Column("scenario_id", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("content", JSONB, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant_id", "scenario_id", "version", name="scenario_versions_pkey"),
    ForeignKeyConstraint(
        ["tenant_id", "scenario_id"], ["scenarios.tenant_id", "scenarios.id"], name="scenario_versions_scenario_fkey"
    ),
    ForeignKeyConstraint(
        ["tenant_id", "created_by"], ["accounts.tenant_id", "accounts.id"], name="scenario_versions_author_fkey"
    ),
)

drills = Table(
    "drills",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("name", Text, nullable=False),
    Column("scenario_id", Uuid, nullable=False),
    Column("starts_at", MOMENT, nullable=False),
    Column("ends_at", MOMENT, nullable=False),
    Column("expected_trainees", Integer, nullable=False),
    Column("seats", Integer),
    Column("walk_ins", Integer, nullable=False),
    Column("turns_in_flight", Integer),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("series_id", Uuid),
    Column("import_key", Text),
    PrimaryKeyConstraint("id", name="drills_pkey"),
    UniqueConstraint("tenant_id", "id", name="drills_tenant_id_id_key"),
    ForeignKeyConstraint(
        ["tenant_id", "scenario_id"], ["scenarios.tenant_id", "scenarios.id"], name="drills_scenario_fkey"
    ),
    ForeignKeyConstraint(["tenant_id", "created_by"], ["accounts.tenant_id", "accounts.id"], name="drills_author_fkey"),
    ForeignKeyConstraint(
        ["tenant_id", "series_id"], ["drill_series.tenant_id", "drill_series.id"], name="drills_series_fkey"
    ),
    Index("drills_by_age", "tenant_id", "created_at", "id"),
    Index("drills_by_series", "tenant_id", "series_id", "starts_at", postgresql_where=text("series_id is not null")),
    Index(
        "drills_import_key",
        "tenant_id",
        "import_key",
        unique=True,
        postgresql_where=text("import_key is not null"),
    ),
    Index("drills_by_time", "ends_at", "starts_at"),
)

drill_series = Table(
    "drill_series",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("cron", Text, nullable=False),
    Column("timezone", Text, nullable=False),
    Column("minutes", Integer, nullable=False),
    Column("first_at", MOMENT, nullable=False),
    Column("last_at", MOMENT, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("id", name="drill_series_pkey"),
    UniqueConstraint("tenant_id", "id", name="drill_series_tenant_id_id_key"),
    ForeignKeyConstraint(
        ["tenant_id", "created_by"], ["accounts.tenant_id", "accounts.id"], name="drill_series_author_fkey"
    ),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("trainee_id", Uuid, nullable=False),
    Column("scenario_id", Uuid, nullable=False),
    Column("scenario_version", Integer, nullable=False),
    Column("scene", Text, nullable=False),
    Column("opening", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("turn_count", Integer, nullable=False),
    Column("metadata", JSONB, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("closed_at", MOMENT),
    Column("idempotency_key", Text),
    Column("idempotency_digest", Text),
    Column("note_count", Integer, nullable=False, server_default=text("0")),
    Column("drill_id", Uuid),
    PrimaryKeyConstraint("id", name="sessions_pkey"),
    UniqueConstraint("tenant_id", "id", name="sessions_tenant_id_id_key"),
    UniqueConstraint("tenant_id", "trainee_id", "idempotency_key", name="sessions_idempotency_key"),
    ForeignKeyConstraint(
        ["tenant_id", "trainee_id"], ["accounts.tenant_id", "accounts.id"], name="sessions_trainee_fkey"
    ),
    ForeignKeyConstraint(
        ["tenant_id", "scenario_id", "scenario_version"],
        ["scenario_versions.tenant_id", "scenario_versions.scenario_id", "scenario_versions.version"],
        name="sessions_scenario_version_fkey",
    ),
    ForeignKeyConstraint(["tenant_id", "drill_id"], ["drills.tenant_id", "drills.id"], name="sessions_drill_fkey"),
    Index("sessions_by_age", "tenant_id", "created_at", "id"),
    Index("sessions_by_trainee", "tenant_id", "trainee_id", "created_at", "id"),
    Index(
        "sessions_by_drill",
        "tenant_id",
        "drill_id",
        "created_at",
        "id",
        postgresql_where=text("drill_id is not null"),
    ),
)

turns = Table(
    "turns",
    metadata,
    Column("session_id", Uuid, nullable=False),
    Column("number", Integer, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("state", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("reply", Text, nullable=False),
    Column("started_at", MOMENT, nullable=False),
    Column("ended_at", MOMENT, nullable=False),
    Column("text_tokens", Integer, nullable=False),
    Column("reply_tokens", Integer, nullable=False),
    Column("finish_reason", Text),
    Column("prompt_tokens", Integer, nullable=False),
    Column("cached_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("queue_ms", Double, nullable=False),
    Column("ttft_ms", Double),
    Column("e2e_ms", Double, nullable=False),
    Column("replica", Text),
    Column("continued", Boolean, nullable=False),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("error_retryable", Boolean),
    Column("idempotency_key", Text),
    Column("idempotency_digest", Text),
    Column("scene", Text, nullable=False, server_default=text("''")),
    Column("model", Text, nullable=False, server_default=text("''")),
    Column("tier", Text, nullable=False, server_default=text("'role_play'")),
    Column("fell_back", Boolean, nullable=False, server_default=text("false")),
    Column("citations", JSONB, nullable=False, server_default=text("'[]'")),
    Column("moderation", JSONB(none_as_null=True)),
    PrimaryKeyConstraint("session_id", "number", name="turns_pkey"),
    ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], name="turns_session_fkey"),
    Index(
        "turns_idempotency", "session_id", "idempotency_key", unique=True, postgresql_where=text("state <> 'failed'")
    ),
    Index(
        "turns_moderated",
        "tenant_id",
        "ended_at",
        "session_id",
        "number",
        postgresql_where=text("moderation is not null"),
    ),
)

notes = Table(
    "notes",
    metadata,
    Column("session_id", Uuid, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("from_turn", Integer, nullable=False),
    Column("to_turn", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("session_version", Integer, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("session_id", "seq", name="notes_pkey"),
    ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], name="notes_session_fkey"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("facts", JSONB, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("delivered_at", MOMENT),
    PrimaryKeyConstraint("id", name="outbox_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="outbox_tenant_fkey"),
    Index("outbox_pending", "id", postgresql_where=text("delivered_at is null")),
)
