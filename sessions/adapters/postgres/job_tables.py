"""The tables of jobs, beside those of `tables.py`."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from sessions.adapters.postgres.tables import MOMENT, metadata

job_queues = Table(
    "job_queues",
    metadata,
    Column("tenant_id", Uuid, nullable=False),
    Column("served_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant_id", name="job_queues_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="job_queues_tenant_fkey"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("knowledge_base_id", Uuid, nullable=False),
    Column("document_id", Uuid),
    Column("state", Text, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("started_at", MOMENT),
    Column("ended_at", MOMENT),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("idempotency_key", Text),
    Column("idempotency_digest", Text),
    PrimaryKeyConstraint("id", name="jobs_pkey"),
    UniqueConstraint("tenant_id", "id", name="jobs_tenant_id_id_key"),
    UniqueConstraint("tenant_id", "created_by", "idempotency_key", name="jobs_idempotency_key"),
    ForeignKeyConstraint(["tenant_id", "created_by"], ["accounts.tenant_id", "accounts.id"], name="jobs_author_fkey"),
    Index("jobs_by_age", "tenant_id", "created_at", "id"),
)

job_items = Table(
    "job_items",
    metadata,
    Column("job_id", Uuid, nullable=False),
    Column("layer", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("not_before", MOMENT, nullable=False),
    Column("lease_owner", Text),
    Column("lease_until", MOMENT),
    Column("started_at", MOMENT),
    Column("ended_at", MOMENT),
    Column("answer", Text),
    Column("finish_reason", Text),
    Column("model", Text),
    Column("tier", Text),
    Column("fell_back", Boolean),
    Column("citations", JSONB),
    Column("error_code", Text),
    Column("error_message", Text),
    PrimaryKeyConstraint("job_id", "layer", "number", name="job_items_pkey"),
    ForeignKeyConstraint(["tenant_id", "job_id"], ["jobs.tenant_id", "jobs.id"], name="job_items_job_fkey"),
    Index(
        "job_items_open",
        "tenant_id",
        "job_id",
        "layer",
        "number",
        postgresql_where=text("state in ('queued', 'running')"),
    ),
    Index("job_items_by_worker", "lease_owner", postgresql_where=text("state = 'running'")),
)
