import psycopg
import pytest

from tests.integration.cli.conftest import Command
from tests.support.postgres_fixture import libpq_url


@pytest.mark.postgres
def test_an_empty_database_gets_its_tables_and_a_second_time_changes_nothing(
    drillyard: Command, empty_database_url: str
) -> None:
    for _ in range(2):
        ended = drillyard("db", "migrate", "--database-url", empty_database_url)
        assert ended.code == 0, ended
        assert ended.out == "the database is up to date\n"
    with psycopg.connect(libpq_url(empty_database_url)) as connection:
        assert connection.execute("select to_regclass('turns') is not null").fetchone() == (True,)


@pytest.mark.postgres
def test_keys_of_a_database_that_was_never_migrated_name_the_command(
    drillyard: Command, empty_database_url: str
) -> None:
    ended = drillyard("keys", "list", "--tenant", "acme", "--database-url", empty_database_url)
    assert ended.code == 1
    assert "drillyard db migrate" in ended.err


def test_a_database_that_is_not_there_is_told_in_one_line_without_the_password(drillyard: Command) -> None:
    ended = drillyard("db", "migrate", "--database-url", "postgresql://me:hush@127.0.0.1:1/x")
    assert ended.code == 1
    assert ended.err.startswith("drillyard: the database cannot be migrated")
    assert ended.err.count("\n") == 1
    assert "hush" not in ended.err


def test_no_database_at_all_is_told_with_the_variable_to_set(drillyard: Command) -> None:
    ended = drillyard("db", "migrate")
    assert ended.code == 1
    assert ended.err == "drillyard: no database is named; set DRILLYARD_DATABASE_URL or give --database-url\n"


def test_an_address_that_is_none_is_not_repeated(drillyard: Command) -> None:
    ended = drillyard("db", "migrate", "--database-url", "mysql://me:hush@host/x")
    assert ended.code == 1
    assert "hush" not in ended.err
