"""Notes of folded turns, and what a turn used: its scene, its model, the knowledge that was shown.

Columns that are added have constant defaults, so that neither the rows that are there nor a process of the version
before are in the way.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table notes (
        session_id uuid not null,
        seq integer not null,
        tenant_id uuid not null,
        from_turn integer not null,
        to_turn integer not null,
        text text not null,
        tokens integer not null,
        made_by text not null,
        session_version integer not null,
        created_at timestamptz not null,
        constraint notes_pkey primary key (session_id, seq),
        constraint notes_session_fkey foreign key (tenant_id, session_id) references sessions (tenant_id, id),
        constraint notes_seq_check check (seq >= 1),
        constraint notes_turns_check check (from_turn >= 1 and to_turn >= from_turn),
        constraint notes_made_by_check check (made_by in ('tutor', 'extract'))
    )
    """,
    "alter table sessions add column note_count integer not null default 0",
    "alter table turns add column scene text not null default ''",
    "alter table turns add column model text not null default ''",
    "alter table turns add column tier text not null default 'role_play'",
    "alter table turns add column fell_back boolean not null default false",
    "alter table turns add column citations jsonb not null default '[]'",
    "alter table tenants add column tiers jsonb not null default '{}'",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
