"""The second wall between tenants: row-level security.

Before its first statement a transaction says whose it is. From then on the database itself shows and takes rows of that
tenant alone, whatever the statements ask for; a transaction that has not said it sees nothing. Work over all tenants,
such as looking up a key, says so by name.

A superuser would stand above the wall, so the transaction also steps down to the role that the migrations make for it.
Where they may not make one, the login owns the tables and is no superuser, and the wall holds for it too.
"""

from typing import Final, NewType
from uuid import UUID

Side = NewType("Side", str)
"""A tenant's id, or one of the two below."""

EVERY_TENANT: Final = Side("*")
NO_TENANT: Final = Side("")

# It holds until the transaction ends. pg_has_role is asked for the row found, so a role that is not there is no error.
STEP: Final = (
    "select set_config('drillyard.tenant', :side, true), set_config('role', coalesce("
    "(select rolname from pg_roles where rolname = 'drillyard_service' and pg_has_role(oid, 'member')), current_user)"
    ", true)"
)


def side_of(tenant: UUID) -> Side:
    return Side(str(tenant))
