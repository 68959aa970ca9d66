"""The role that the service steps down to, made wherever it is missing.

It belongs to the server and not to the database: a backup that is brought back on another server comes without it, and
a superuser without it would stand above the wall between tenants.
"""

from typing import Final

# Roles belong to the whole server: another database of it may have made this one, or may do so at this moment.
_ROLE = """
do $$
begin
    if not exists (select from pg_roles where rolname = 'drillyard_service') then
        create role drillyard_service nologin;
    end if;
    if not pg_has_role('drillyard_service', 'member') then
        execute format('grant drillyard_service to %I', current_user);
    end if;
exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
        raise notice 'drillyard_service was not made: this login may not create roles';
end $$
"""

# Nothing is asked of a login that finds all of it done.
_GRANTS = """
do $$
begin
    if not exists (select from pg_roles where rolname = 'drillyard_service') then
        return;
    end if;
    if has_table_privilege('drillyard_service', 'tenants', 'select') then
        return;
    end if;
    grant usage on schema public to drillyard_service;
    grant select, insert, update, delete on all tables in schema public to drillyard_service;
    grant usage, select on all sequences in schema public to drillyard_service;
    alter default privileges in schema public grant select, insert, update, delete on tables to drillyard_service;
    alter default privileges in schema public grant usage, select on sequences to drillyard_service;
end $$
"""

SERVICE_ROLE: Final = (_ROLE, _GRANTS)
