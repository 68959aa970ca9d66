"""Row-level security as the second wall between tenants, and the role that the service steps down to.

A login that may not create roles goes on without one: it owns the tables, is no superuser, and the policies are forced
on owners. Later tables need a policy of their own; a test demands it.
"""

from alembic import op

from sessions.migrations.service_role import SERVICE_ROLE

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Read so, a setting that is no id is null and never an error, whenever the planner chooses to look at it. The settings
# stand in subqueries, which a statement evaluates once and not for each row.
POLICIES = """
do $$
declare
    wall record;
begin
    for wall in
        select table_name, case table_name when 'tenants' then 'id' else 'tenant_id' end as owner
        from information_schema.columns
        where table_schema = 'public'
          and column_name = case table_name when 'tenants' then 'id' else 'tenant_id' end
    loop
        execute format('alter table %I enable row level security', wall.table_name);
        execute format('alter table %I force row level security', wall.table_name);
        execute format(
            'create policy tenant_wall on %1$I using ((select current_setting(%3$L, true) = %4$L) '
            'or %2$I = (select nullif(nullif(current_setting(%3$L, true), %4$L), %5$L)::uuid))',
            wall.table_name, wall.owner, 'drillyard.tenant', '*', ''
        );
    end loop;
end $$
"""


def upgrade() -> None:
    for statement in (*SERVICE_ROLE, POLICIES):
        op.execute(statement)
