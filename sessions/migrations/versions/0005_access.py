"""What keys are for, when they were last used, and what people are called."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

STATEMENTS = (
    "alter table accounts add column display_name text",
    "alter table api_keys add column label text, add column scopes text[], add column last_used_at timestamptz",
    "create index api_keys_by_account on api_keys (tenant_id, account_id)",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
