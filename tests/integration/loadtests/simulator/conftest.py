"""Simulated replicas over real HTTP: one that lasts and is reset for each test, and one to be ended."""

from collections.abc import Iterator

import pytest

from tests.support.simulator_process import SimulatorProcess, simulator


@pytest.fixture(scope="session")
def lasting_replica() -> Iterator[SimulatorProcess]:
    with simulator("--enable-prompt-tokens-details", "--max-num-seqs", "4", dev_mode=True) as process:
        yield process


@pytest.fixture
def replica(lasting_replica: SimulatorProcess) -> SimulatorProcess:
    """No faults, no script, no remembered requests."""
    lasting_replica.reset()
    return lasting_replica
