"""A few rounds of `python -m loadtests.continuity`, which plays fifty of a hundred streams."""

from pathlib import Path

import pytest

from loadtests.continuity.cli import main

FEW = ("--rounds", "3", "--streams", "24", "--speed-up", "12")


@pytest.mark.parametrize("how", [(), ("--by-text",)], ids=["by token ids", "by text"])
def test_replicas_that_are_killed_stopped_and_cut_off_cost_no_reply_a_letter(
    how: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([*FEW, *how, "--log", str(tmp_path / "router.log")])
    said = capsys.readouterr().out
    assert status == 0, said
    assert "3 rounds (1 kill -9, 1 SIGSTOP, 1 network drop), 72 streams" in said
    assert " 0 continued at another" not in said
