"""Moderation: what was found in turns, phrase lists with their versions, settings, decisions, and the audit trail.

What a trainee said and moderation stopped stands beside its turn and not in it, so that whatever reads turns never
meets it. The audit trail is only ever added to, also for who owns the tables.
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

WALLED = (
    "phrase_lists",
    "phrase_list_versions",
    "moderation_settings",
    "moderation_decisions",
    "moderation_audit",
    "withheld_texts",
)

STATEMENTS = (
    "alter table turns add column moderation jsonb",
    "alter table turns drop constraint turns_state_check",
    """
    alter table turns add constraint turns_state_check
        check (state in ('completed', 'cancelled', 'failed', 'blocked'))
    """,
    "create index turns_moderated on turns (tenant_id, ended_at, session_id, number) where moderation is not null",
    "alter table knowledge_documents add column flagged_chunks integer not null default 0",
    """
    create table withheld_texts (
        session_id uuid not null,
        number integer not null,
        tenant_id uuid not null,
        text text not null,
        constraint withheld_texts_pkey primary key (session_id, number),
        constraint withheld_texts_session_fkey foreign key (tenant_id, session_id) references sessions (tenant_id, id),
        constraint withheld_texts_turn_fkey
            foreign key (session_id, number) references turns (session_id, number) on delete cascade
    )
    """,
    """
    create table phrase_lists (
        id uuid not null,
        tenant_id uuid not null,
        name text not null,
        scenario_id uuid,
        direction text not null,
        live_version integer,
        latest_version integer not null,
        created_by uuid not null,
        created_at timestamptz not null,
        archived_at timestamptz,
        constraint phrase_lists_pkey primary key (id),
        constraint phrase_lists_tenant_id_id_key unique (tenant_id, id),
        constraint phrase_lists_tenant_id_name_key unique (tenant_id, name),
        constraint phrase_lists_scenario_fkey
            foreign key (tenant_id, scenario_id) references scenarios (tenant_id, id),
        constraint phrase_lists_author_fkey foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint phrase_lists_direction_check check (direction in ('both', 'input', 'output')),
        constraint phrase_lists_version_check check (live_version between 1 and latest_version)
    )
    """,
    "create index phrase_lists_by_age on phrase_lists (tenant_id, created_at, id)",
    """
    create table phrase_list_versions (
        list_id uuid not null,
        version integer not null,
        tenant_id uuid not null,
        content jsonb not null,
        phrase_count integer not null,
        created_by uuid not null,
        created_at timestamptz not null,
        constraint phrase_list_versions_pkey primary key (list_id, version),
        constraint phrase_list_versions_list_fkey
            foreign key (tenant_id, list_id) references phrase_lists (tenant_id, id),
        constraint phrase_list_versions_author_fkey
            foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint phrase_list_versions_version_check check (version >= 1)
    )
    """,
    """
    create table moderation_settings (
        tenant_id uuid not null,
        content jsonb not null,
        changed_by uuid not null,
        changed_at timestamptz not null,
        constraint moderation_settings_pkey primary key (tenant_id),
        constraint moderation_settings_author_fkey
            foreign key (tenant_id, changed_by) references accounts (tenant_id, id)
    )
    """,
    """
    create table moderation_decisions (
        session_id uuid not null,
        number integer not null,
        tenant_id uuid not null,
        decision text not null,
        note text not null,
        effect jsonb not null,
        decided_by uuid not null,
        decided_at timestamptz not null,
        constraint moderation_decisions_pkey primary key (session_id, number),
        constraint moderation_decisions_session_fkey
            foreign key (tenant_id, session_id) references sessions (tenant_id, id),
        constraint moderation_decisions_turn_fkey
            foreign key (session_id, number) references turns (session_id, number) on delete cascade,
        constraint moderation_decisions_author_fkey
            foreign key (tenant_id, decided_by) references accounts (tenant_id, id),
        constraint moderation_decisions_decision_check check (decision in ('confirmed', 'false_alarm'))
    )
    """,
    """
    create table moderation_audit (
        id bigint generated always as identity,
        tenant_id uuid not null,
        at timestamptz not null,
        actor uuid not null,
        action text not null,
        subject text not null,
        facts jsonb not null,
        constraint moderation_audit_pkey primary key (id),
        constraint moderation_audit_tenant_fkey foreign key (tenant_id) references tenants (id)
    )
    """,
    "create index moderation_audit_by_tenant on moderation_audit (tenant_id, id)",
    """
    create function moderation_audit_stays() returns trigger language plpgsql as $$
    begin
        raise exception 'the audit trail of moderation is only ever added to';
    end $$
    """,
    """
    create trigger moderation_audit_stays before update or delete or truncate on moderation_audit
        for each statement execute function moderation_audit_stays()
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
    for table in WALLED:
        op.execute(f"alter table {table} enable row level security")
        op.execute(f"alter table {table} force row level security")
        op.execute(
            f"create policy tenant_wall on {table} using ((select current_setting('drillyard.tenant', true) = '*') "
            "or tenant_id = (select nullif(nullif(current_setting('drillyard.tenant', true), '*'), '')::uuid))"
        )
