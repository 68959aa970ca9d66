"""A command that could not do what it was asked says so, and leaves with a code of its own."""

import errno
import signal

import pytest
import typer

from loadtests.cli.refusing import refusals
from loadtests.conduct.order import DrillFailed
from loadtests.conduct.stack import StackFailed, UnknownFleet
from loadtests.ledger.book import NoSuchRun
from loadtests.run_files import RunDamaged
from loadtests.target import TargetRefused


def test_a_signal_to_end_is_a_ctrl_c() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(typer.Exit) as left, refusals("load run"):
        signal.raise_signal(signal.SIGTERM)
    assert left.value.exit_code == 130
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("refused", [DrillFailed, NoSuchRun, RunDamaged, StackFailed, TargetRefused, UnknownFleet])
def test_a_refusal_is_one_line(refused: type[Exception], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left, refusals("load run"):
        raise refused("no such thing")
    assert left.value.exit_code == 2
    assert capsys.readouterr().err == "drillyard load run: no such thing\n"


def test_a_disk_that_is_full_is_no_missed_target(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left, refusals("load run"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert left.value.exit_code == 2
    assert capsys.readouterr().err == "drillyard load run: the run cannot be kept: No space left on device\n"
