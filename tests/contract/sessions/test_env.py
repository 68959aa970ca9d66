"""Steps run under time-outs, so that one which cannot have its lock does not hold up a live system."""

import pytest
from alembic import command
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from sessions.migrations.run import configuration

pytestmark = pytest.mark.postgres


def test_steps_wait_for_locks_and_run_for_a_bounded_time_only(empty_database_url: str) -> None:
    engine = create_engine(empty_database_url, poolclass=NullPool)
    with engine.connect() as connection:
        config = configuration()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        assert connection.execute(text("show lock_timeout")).scalar_one() == "5s"
        assert connection.execute(text("show statement_timeout")).scalar_one() == "2min"
    engine.dispose()
