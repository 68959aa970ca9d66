"""Jobs: questions that are answered in the background.

A job points to no knowledge base: it is kept when the base goes.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table job_queues (
        tenant_id uuid not null,
        served_at timestamptz not null,
        constraint job_queues_pkey primary key (tenant_id),
        constraint job_queues_tenant_fkey foreign key (tenant_id) references tenants (id)
    )
    """,
    """
    create table jobs (
        id uuid not null,
        tenant_id uuid not null,
        knowledge_base_id uuid not null,
        document_id uuid,
        state text not null,
        created_by uuid not null,
        created_at timestamptz not null,
        started_at timestamptz,
        ended_at timestamptz,
        error_code text,
        error_message text,
        idempotency_key text,
        idempotency_digest text,
        constraint jobs_pkey primary key (id),
        constraint jobs_tenant_id_id_key unique (tenant_id, id),
        constraint jobs_idempotency_key unique (tenant_id, created_by, idempotency_key),
        constraint jobs_author_fkey foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint jobs_state_check check (state in ('queued', 'running', 'completed', 'cancelled', 'failed')),
        constraint jobs_ended_at_check check ((ended_at is not null) = (state not in ('queued', 'running'))),
        constraint jobs_error_check check ((error_code is null) = (error_message is null)),
        constraint jobs_idempotency_check check ((idempotency_key is null) = (idempotency_digest is null))
    )
    """,
    "create index jobs_by_age on jobs (tenant_id, created_at, id)",
    "create index jobs_open on jobs (tenant_id, created_at, id) where state in ('queued', 'running')",
    """
    create table job_items (
        job_id uuid not null,
        layer integer not null,
        number integer not null,
        tenant_id uuid not null,
        kind text not null,
        text text not null,
        first integer not null,
        last integer not null,
        state text not null,
        attempts integer not null,
        not_before timestamptz not null,
        lease_owner text,
        lease_until timestamptz,
        started_at timestamptz,
        ended_at timestamptz,
        answer text,
        finish_reason text,
        model text,
        tier text,
        fell_back boolean,
        citations jsonb,
        error_code text,
        error_message text,
        constraint job_items_pkey primary key (job_id, layer, number),
        constraint job_items_job_fkey foreign key (tenant_id, job_id) references jobs (tenant_id, id),
        constraint job_items_place_check check (layer >= 1 and number >= 1),
        constraint job_items_kind_check check (kind in ('summary', 'question')),
        constraint job_items_state_check
            check (state in ('queued', 'running', 'completed', 'failed', 'cancelled')),
        constraint job_items_lease_check
            check ((state = 'running') = (lease_owner is not null) and (state = 'running') = (lease_until is not null)),
        constraint job_items_answer_check check ((state = 'completed') = (answer is not null)),
        constraint job_items_error_check
            check ((state = 'failed') = (error_code is not null) and (error_code is null) = (error_message is null))
    )
    """,
    "create index job_items_open on job_items (tenant_id, job_id, layer, number) where state in ('queued', 'running')",
    "create index job_items_running on job_items (tenant_id) where state = 'running'",
    "create index job_items_by_worker on job_items (lease_owner) where state = 'running'",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
