"""How a leader that no longer leads is kept from writing: three advisory locks of Postgres.

Who leads holds LEADER on a line of its own, and beside it a lock of a number that nobody had before, its *token*. Both
go with the line. Whoever writes first goes through the GATE, together with others who write, and then looks whether the
token is still held. A new leader goes through the gate alone before it acts: every write that looked before it led has
ended by then, and every later one finds the token gone.
"""

from typing import Final

LOCKS: Final = 1_718_379_877
LEADER: Final = 1
GATE: Final = 2
LEAST_TOKEN: Final = 16
TOKENS: Final = 2**31 - LEAST_TOKEN

ENTER: Final = f"select pg_advisory_xact_lock_shared({LOCKS}, {GATE})"
PASS_ALONE: Final = f"select pg_advisory_xact_lock({LOCKS}, {GATE})"
# Of the two-number kind (objsubid 2), which alone has these numbers.
HOLDS: Final = (
    "select exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 2 "  # noqa: S608
    f"and classid = {LOCKS} and objid = :token "
    "and database = (select oid from pg_database where datname = current_database()))"
)
