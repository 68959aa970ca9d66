"""The fixtures of the whole suite; each plugin holds those of one thing."""

from hypothesis import settings

pytest_plugins = [
    "tests.support.postgres_fixture",
    "tests.support.records_fixture",
    "tests.support.moderation_stores",
    "tests.support.knowledge_fixture",
    "tests.support.jobs_fixture",
    "tests.support.redis_fixture",
    "tests.support.engine_fixture",
]

# How long an example takes says more about who else uses the cores than about the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
