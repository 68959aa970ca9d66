"""Row-level security as the second wall between tenants, and the role that the service steps down to.

A login that may not create roles goes on without one: it owns the tables, is no superuser, and the policies are forced
on owners. Later tables need a policy of their own; a test demands it.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Roles belong to the whole server: another database of it may have made this one, or may do so at this moment.
ROLE = """
do $$
begin
    if not exists (select from pg_roles where rolname = 'drillyard_service') then
        create role drillyard_service nologin;
    end if;
    if not (select rolsuper from pg_roles where rolname = current_user) then
        execute format('grant drillyard_service to %I', current_user);
    end if;
exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
        raise notice 'drillyard_service was not made: this login may not create roles';
end $$
"""

GRANTS = """
do $$
begin
    if exists (select from pg_roles where rolname = 'drillyard_service') then
        grant usage on schema public to drillyard_service;
        grant select, insert, update, delete on all tables in schema public to drillyard_service;
        grant usage, select on all sequences in schema public to drillyard_service;
        alter default privileges in schema public
            grant select, insert, update, delete on tables to drillyard_service;
        alter default privileges in schema public grant usage, select on sequences to drillyard_service;
    end if;
end $$
"""

# A case is evaluated in its order, and a setting that is no id is never read as one. The settings stand in subqueries,
# which a statement evaluates once and not for each row.
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
            'create policy tenant_wall on %1$I using (case (select coalesce(current_setting(%3$L, true), %4$L)) '
            'when %5$L then true when %4$L then false else %2$I = (select current_setting(%3$L, true)::uuid) end)',
            wall.table_name, wall.owner, 'drillyard.tenant', '', '*'
        );
    end loop;
end $$
"""


def upgrade() -> None:
    for statement in (ROLE, GRANTS, POLICIES):
        op.execute(statement)
