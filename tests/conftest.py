"""The fixtures of the whole suite; each plugin holds those of one thing."""

pytest_plugins = [
    "tests.support.postgres_fixture",
    "tests.support.records_fixture",
    "tests.support.redis_fixture",
    "tests.support.engine_fixture",
]
