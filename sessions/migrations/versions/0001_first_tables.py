"""The first tables: tenants, accounts, keys, scenarios, sessions, turns, outbox.

Foreign keys carry the tenant wherever both sides have one, so that a row cannot point into another tenant.
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    """
    create table tenants (
        id uuid not null,
        slug text not null,
        name text not null,
        created_at timestamptz not null,
        constraint tenants_pkey primary key (id),
        constraint tenants_slug_key unique (slug)
    )
    """,
    """
    create table accounts (
        id uuid not null,
        tenant_id uuid not null,
        role text not null,
        name text not null,
        created_at timestamptz not null,
        constraint accounts_pkey primary key (id),
        constraint accounts_tenant_id_id_key unique (tenant_id, id),
        constraint accounts_tenant_id_name_key unique (tenant_id, name),
        constraint accounts_tenant_fkey foreign key (tenant_id) references tenants (id),
        constraint accounts_role_check check (role in ('trainee', 'instructor', 'operator', 'service'))
    )
    """,
    """
    create table api_keys (
        id text not null,
        tenant_id uuid not null,
        account_id uuid not null,
        secret_sha256 bytea not null,
        created_at timestamptz not null,
        expires_at timestamptz,
        revoked_at timestamptz,
        constraint api_keys_pkey primary key (id),
        constraint api_keys_account_fkey foreign key (tenant_id, account_id) references accounts (tenant_id, id),
        constraint api_keys_secret_check check (octet_length(secret_sha256) = 32)
    )
    """,
    """
    create table scenarios (
        id uuid not null,
        tenant_id uuid not null,
        latest_version integer not null,
        created_at timestamptz not null,
        constraint scenarios_pkey primary key (id),
        constraint scenarios_tenant_id_id_key unique (tenant_id, id),
        constraint scenarios_tenant_fkey foreign key (tenant_id) references tenants (id),
        constraint scenarios_latest_version_check check (latest_version >= 1)
    )
    """,
    """
    create table scenario_versions (
        tenant_id uuid not null,
        scenario_id uuid not null,
        version integer not null,
        content jsonb not null,
        created_by uuid not null,
        created_at timestamptz not null,
        constraint scenario_versions_pkey primary key (tenant_id, scenario_id, version),
        constraint scenario_versions_scenario_fkey
            foreign key (tenant_id, scenario_id) references scenarios (tenant_id, id),
        constraint scenario_versions_author_fkey
            foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint scenario_versions_version_check check (version >= 1)
    )
    """,
    """
    create table sessions (
        id uuid not null,
        tenant_id uuid not null,
        trainee_id uuid not null,
        scenario_id uuid not null,
        scenario_version integer not null,
        scene text not null,
        opening text not null,
        state text not null,
        version integer not null,
        turn_count integer not null,
        metadata jsonb not null,
        created_at timestamptz not null,
        closed_at timestamptz,
        idempotency_key text,
        idempotency_digest text,
        constraint sessions_pkey primary key (id),
        constraint sessions_tenant_id_id_key unique (tenant_id, id),
        constraint sessions_idempotency_key unique (tenant_id, trainee_id, idempotency_key),
        constraint sessions_trainee_fkey foreign key (tenant_id, trainee_id) references accounts (tenant_id, id),
        constraint sessions_scenario_version_fkey foreign key (tenant_id, scenario_id, scenario_version)
            references scenario_versions (tenant_id, scenario_id, version),
        constraint sessions_state_check check (state in ('open', 'closed')),
        constraint sessions_closed_at_check check ((state = 'closed') = (closed_at is not null)),
        constraint sessions_version_check check (version >= 1),
        constraint sessions_turn_count_check check (turn_count >= 0),
        constraint sessions_idempotency_check check ((idempotency_key is null) = (idempotency_digest is null))
    )
    """,
    """
    create table turns (
        session_id uuid not null,
        number integer not null,
        tenant_id uuid not null,
        state text not null,
        text text not null,
        reply text not null,
        started_at timestamptz not null,
        ended_at timestamptz not null,
        text_tokens integer not null,
        reply_tokens integer not null,
        finish_reason text,
        prompt_tokens integer not null,
        cached_tokens integer not null,
        completion_tokens integer not null,
        queue_ms double precision not null,
        ttft_ms double precision,
        e2e_ms double precision not null,
        replica text,
        continued boolean not null,
        error_code text,
        error_message text,
        error_retryable boolean,
        idempotency_key text,
        idempotency_digest text,
        constraint turns_pkey primary key (session_id, number),
        constraint turns_session_fkey foreign key (tenant_id, session_id) references sessions (tenant_id, id),
        constraint turns_number_check check (number >= 1),
        constraint turns_state_check check (state in ('completed', 'cancelled', 'failed')),
        constraint turns_error_check check (num_nulls(error_code, error_message, error_retryable) in (0, 3)),
        constraint turns_idempotency_check check ((idempotency_key is null) = (idempotency_digest is null))
    )
    """,
    """
    create table outbox (
        id bigint generated always as identity,
        tenant_id uuid not null,
        kind text not null,
        subject text not null,
        facts jsonb not null,
        created_at timestamptz not null,
        delivered_at timestamptz,
        constraint outbox_pkey primary key (id),
        constraint outbox_tenant_fkey foreign key (tenant_id) references tenants (id)
    )
    """,
)

INDEXES = (
    "create index api_keys_by_tenant on api_keys (tenant_id, created_at, id)",
    "create index scenarios_by_age on scenarios (tenant_id, created_at, id)",
    "create index sessions_by_age on sessions (tenant_id, created_at, id)",
    "create index sessions_by_trainee on sessions (tenant_id, trainee_id, created_at, id)",
    # A turn that failed may be asked for again with the same key.
    "create unique index turns_idempotency on turns (session_id, idempotency_key) where state <> 'failed'",
    "create index outbox_pending on outbox (id) where delivered_at is null",
)


def upgrade() -> None:
    for statement in (*TABLES, *INDEXES):
        op.execute(statement)
