"""Classes that repeat or come from elsewhere, and what the fleet's controller remembers.

The fleet serves all tenants: its tables belong to none of them and hold no one's words.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table drill_series (
        id uuid not null,
        tenant_id uuid not null,
        cron text not null,
        timezone text not null,
        minutes integer not null,
        first_at timestamptz not null,
        last_at timestamptz not null,
        created_by uuid not null,
        created_at timestamptz not null,
        constraint drill_series_pkey primary key (id),
        constraint drill_series_tenant_id_id_key unique (tenant_id, id),
        constraint drill_series_author_fkey foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint drill_series_minutes_check check (minutes >= 1)
    )
    """,
    "alter table drills add column series_id uuid",
    "alter table drills add column import_key text",
    """
    alter table drills add constraint drills_series_fkey
        foreign key (tenant_id, series_id) references drill_series (tenant_id, id)
    """,
    "create index drills_by_series on drills (tenant_id, series_id, starts_at) where series_id is not null",
    "create unique index drills_import_key on drills (tenant_id, import_key) where import_key is not null",
    "create index drills_by_time on drills (ends_at, starts_at)",
    """
    create table fleet_replicas (
        id text not null,
        pool text not null,
        reached jsonb not null,
        url text not null,
        failure text not null,
        report jsonb,
        constraint fleet_replicas_pkey primary key (pool, id)
    )
    """,
    """
    create table fleet_starts (
        id bigint generated always as identity,
        pool text not null,
        began_at timestamptz not null,
        ended_at timestamptz not null,
        went_warm boolean not null,
        constraint fleet_starts_pkey primary key (id)
    )
    """,
    "create index fleet_starts_by_pool on fleet_starts (pool, id)",
    """
    create table fleet_floors (
        pool text not null,
        replicas integer not null,
        until timestamptz,
        set_by text not null,
        reason text not null,
        set_at timestamptz not null,
        constraint fleet_floors_pkey primary key (pool),
        constraint fleet_floors_replicas_check check (replicas >= 0)
    )
    """,
    """
    create table fleet_rounds (
        pool text not null,
        at timestamptz not null,
        leader text not null,
        wanted integer,
        ready integer not null,
        present integer not null,
        wait text not null,
        short text not null,
        short_at timestamptz,
        constraint fleet_rounds_pkey primary key (pool)
    )
    """,
    """
    create table fleet_canaries (
        pool text not null,
        fingerprint text not null,
        answers jsonb not null,
        first_seen_at timestamptz not null,
        constraint fleet_canaries_pkey primary key (pool, fingerprint)
    )
    """,
)

WALLED = ("drill_series",)


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
