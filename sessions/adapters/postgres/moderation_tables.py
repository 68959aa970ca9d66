"""The tables of moderation as statements see them; those of lists, settings and audit are the gateway's to use."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSONB

from sessions.adapters.postgres.tables import MOMENT, metadata


def _author(column: str, name: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["tenant_id", column], ["accounts.tenant_id", "accounts.id"], name=name)


def _session(name: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], name=name)


def _turn(name: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["session_id", "number"], ["turns.session_id", "turns.number"], name=name, ondelete="CASCADE"
    )


withheld_texts = Table(
    "withheld_texts",
    metadata,
    Column("session_id", Uuid, nullable=False),
    Column("number", Integer, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("text", Text, nullable=False),
    PrimaryKeyConstraint("session_id", "number", name="withheld_texts_pkey"),
    _session("withheld_texts_session_fkey"),
    _turn("withheld_texts_turn_fkey"),
)

phrase_lists = Table(
    "phrase_lists",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("name", Text, nullable=False),
    Column("scenario_id", Uuid),
    Column("direction", Text, nullable=False),
    Column("live_version", Integer),
    Column("latest_version", Integer, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("archived_at", MOMENT),
    PrimaryKeyConstraint("id", name="phrase_lists_pkey"),
    UniqueConstraint("tenant_id", "id", name="phrase_lists_tenant_id_id_key"),
    UniqueConstraint("tenant_id", "name", name="phrase_lists_tenant_id_name_key"),
    ForeignKeyConstraint(
        ["tenant_id", "scenario_id"], ["scenarios.tenant_id", "scenarios.id"], name="phrase_lists_scenario_fkey"
    ),
    _author("created_by", "phrase_lists_author_fkey"),
    Index("phrase_lists_by_age", "tenant_id", "created_at", "id"),
)

phrase_list_versions = Table(
    "phrase_list_versions",
    metadata,
    Column("list_id", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("content", JSONB, nullable=False),
    Column("phrase_count", Integer, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("list_id", "version", name="phrase_list_versions_pkey"),
    ForeignKeyConstraint(
        ["tenant_id", "list_id"],
        ["phrase_lists.tenant_id", "phrase_lists.id"],
        name="phrase_list_versions_list_fkey",
    ),
    _author("created_by", "phrase_list_versions_author_fkey"),
)

moderation_settings = Table(
    "moderation_settings",
    metadata,
    Column("tenant_id", Uuid, nullable=False),
    Column("content", JSONB, nullable=False),
    Column("changed_by", Uuid, nullable=False),
    Column("changed_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant_id", name="moderation_settings_pkey"),
    _author("changed_by", "moderation_settings_author_fkey"),
)

moderation_decisions = Table(
    "moderation_decisions",
    metadata,
    Column("session_id", Uuid, nullable=False),
    Column("number", Integer, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("decision", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("effect", JSONB, nullable=False),
    Column("decided_by", Uuid, nullable=False),
    Column("decided_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("session_id", "number", name="moderation_decisions_pkey"),
    _session("moderation_decisions_session_fkey"),
    _turn("moderation_decisions_turn_fkey"),
    _author("decided_by", "moderation_decisions_author_fkey"),
)

moderation_audit = Table(
    "moderation_audit",
    metadata,
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("at", MOMENT, nullable=False),
    Column("actor", Uuid, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("facts", JSONB, nullable=False),
    PrimaryKeyConstraint("id", name="moderation_audit_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="moderation_audit_tenant_fkey"),
    Index("moderation_audit_by_tenant", "tenant_id", "id"),
)
