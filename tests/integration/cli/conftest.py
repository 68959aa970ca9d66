"""The command line called as the console script would, and a server for it to talk to."""

import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

from gateway.cli.main import main
from tests.integration.cli.api_thread import Running, running
from tests.integration.cli.wire_server import WireServer, serving


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def server() -> Iterator[WireServer]:
    with serving(WireServer()) as running:
        yield running


@pytest.fixture
def drillyard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Runs a command in an empty folder, so that no stack of this machine is found by chance."""
    monkeypatch.chdir(tmp_path)
    for name in ("DRILLYARD_BASE_URL", "DRILLYARD_API_KEY", "DRILLYARD_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["drillyard", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, told.out, told.err)

    return run


@pytest.fixture
def api() -> Iterator[Running]:
    # The server's log would stand among what the commands say.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with running() as opened:
        yield opened
    structlog.reset_defaults()
