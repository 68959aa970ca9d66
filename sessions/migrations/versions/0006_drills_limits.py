"""Drills with seats, the drill of a session, and the limits that operators set.

A limit that is null is inherited; 0 stands for no limit. The column that sessions get has no default, so neither the
rows that are there nor a process of the version before are in the way.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table drills (
        id uuid not null,
        tenant_id uuid not null,
        name text not null,
        scenario_id uuid not null,
        starts_at timestamptz not null,
        ends_at timestamptz not null,
        expected_trainees integer not null,
        seats integer,
        walk_ins integer not null,
        turns_in_flight integer,
        state text not null,
        version integer not null,
        created_by uuid not null,
        created_at timestamptz not null,
        constraint drills_pkey primary key (id),
        constraint drills_tenant_id_id_key unique (tenant_id, id),
        constraint drills_scenario_fkey foreign key (tenant_id, scenario_id) references scenarios (tenant_id, id),
        constraint drills_author_fkey foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint drills_state_check check (state in ('scheduled', 'cancelled', 'archived')),
        constraint drills_version_check check (version >= 1),
        constraint drills_times_check check (ends_at > starts_at),
        constraint drills_people_check
            check (expected_trainees >= 1 and seats >= 0 and walk_ins >= 0 and turns_in_flight >= 1)
    )
    """,
    "create index drills_by_age on drills (tenant_id, created_at, id)",
    "alter table sessions add column drill_id uuid",
    """
    alter table sessions add constraint sessions_drill_fkey
        foreign key (tenant_id, drill_id) references drills (tenant_id, id)
    """,
    """
    create index sessions_by_drill on sessions (tenant_id, drill_id, created_at, id) where drill_id is not null
    """,
    """
    create table tenant_limits (
        tenant_id uuid not null,
        requests_per_minute integer,
        request_burst integer,
        input_tokens_per_minute integer,
        output_tokens_per_minute integer,
        turns_in_flight integer,
        sessions integer,
        constraint tenant_limits_pkey primary key (tenant_id),
        constraint tenant_limits_tenant_fkey foreign key (tenant_id) references tenants (id),
        constraint tenant_limits_check
            check (
                requests_per_minute >= 0 and request_burst >= 0 and input_tokens_per_minute >= 0
                and output_tokens_per_minute >= 0 and turns_in_flight >= 0 and sessions >= 0
            )
    )
    """,
    """
    create table account_limits (
        account_id uuid not null,
        tenant_id uuid not null,
        requests_per_minute integer,
        request_burst integer,
        input_tokens_per_minute integer,
        output_tokens_per_minute integer,
        turns_in_flight integer,
        constraint account_limits_pkey primary key (account_id),
        constraint account_limits_account_fkey foreign key (tenant_id, account_id) references accounts (tenant_id, id),
        constraint account_limits_check
            check (
                requests_per_minute >= 0 and request_burst >= 0 and input_tokens_per_minute >= 0
                and output_tokens_per_minute >= 0 and turns_in_flight >= 0
            )
    )
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
