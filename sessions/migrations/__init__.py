"""The schema of the records, step by step; `upgrade` brings a database to the newest."""

from sessions.migrations.run import upgrade

__all__ = ["upgrade"]
