"""What is broken on purpose is often timed too: the tests that load the machine or measure it run when no others do."""

from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_ALONE = {
    "test_compaction.py",
    "test_drain.py",
    "test_limits.py",
    "test_many_resumed.py",
    "test_many_routers.py",
    "test_many_streams.py",
    "test_rolling_restart.py",
    "test_rounds.py",
    "test_slow_stores.py",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE) and item.path.name in _ALONE:
            item.add_marker(pytest.mark.alone)
