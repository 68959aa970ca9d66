"""Bringing a database to the newest schema: once, twice, by two processes at a time, and with nobody there."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from alembic.script import ScriptDirectory

from sessions.errors import RecordsUnavailable
from sessions.migrations import upgrade
from sessions.migrations.run import configuration
from tests.support.postgres_fixture import libpq_url

pytestmark = pytest.mark.postgres

_UPGRADE = "import sys; from sessions.migrations import upgrade; upgrade(sys.argv[1])"


def _ask(database_url: str, question: str) -> list[tuple[object, ...]]:
    with psycopg.connect(libpq_url(database_url)) as connection:
        return connection.execute(question.encode()).fetchall()


def test_an_empty_database_gets_every_table(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    assert _ask(empty_database_url, "select version_num from alembic_version") == [("0009",)]
    assert _ask(empty_database_url, "select count(*) from turns") == [(0,)]


def test_doing_it_again_changes_nothing(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    with psycopg.connect(libpq_url(empty_database_url)) as connection:
        connection.execute("insert into tenants values (gen_random_uuid(), 'acme', 'Acme', now())")
    upgrade(empty_database_url)
    assert _ask(empty_database_url, "select slug from tenants") == [("acme",)]


def test_many_at_once_do_it_once(empty_database_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(upgrade, empty_database_url) for _ in range(4)]:
            done.result()
    assert _ask(empty_database_url, "select version_num from alembic_version") == [("0009",)]


def test_two_processes_at_once_do_it_once(empty_database_url: str) -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", _UPGRADE, empty_database_url], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[1] for process in both] == ["", ""]
    assert [process.returncode for process in both] == [0, 0]


def test_an_address_without_our_driver_will_do(empty_database_url: str) -> None:
    upgrade(libpq_url(empty_database_url))
    assert _ask(empty_database_url, "select count(*) from outbox") == [(0,)]


def test_it_leaves_no_lock_and_no_connection(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    assert _ask(empty_database_url, "select count(*) from pg_locks where locktype = 'advisory'") == [(0,)]
    others = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    assert _ask(empty_database_url, others) == [(0,)]


def test_a_database_that_is_away_is_told_in_our_words() -> None:
    with pytest.raises(RecordsUnavailable, match="cannot be migrated"):
        upgrade("postgresql://nobody:nothing@127.0.0.1:1/nowhere")


def test_the_steps_form_one_line() -> None:
    steps = ScriptDirectory.from_config(configuration())
    assert len(steps.get_heads()) == 1
    assert [step.revision for step in steps.walk_revisions()] == [f"{number:04}" for number in range(9, 0, -1)]
