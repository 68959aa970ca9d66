"""Cells of the ledger's table."""

import math
from dataclasses import replace

import pytest
from rich.console import Console

from loadtests.cli.ledger_view import console, revision_told, runs_table, verdict_text
from loadtests.ledger.entry import Damaged, Entry

ENTRY = Entry(
    run="run-1", bell_at="2026-12-01T10:00:00.000+00:00", drill="d", targets="t", machine="m", shape="class",
    wire="turns", trainees=20, fleet=("2 x card",), revision="abcdef0123456789", is_changed=True, whole="passed",
    figures={"turns": 700.0, "failed": 1.0, "ttft.p95": 0.4, "e2e.p95": math.inf, "cold_share": 0.015},
)  # fmt: skip


def test_a_revision_says_whether_the_code_differed() -> None:
    assert revision_told("abcdef0123456789", is_changed=True) == "abcdef01+"
    assert revision_told("abcdef0123456789", is_changed=False) == "abcdef01"
    assert revision_told("", is_changed=True) == ""


def test_a_verdict_says_what_is_missing() -> None:
    assert verdict_text(ENTRY).plain == "passed"
    assert verdict_text(replace(ENTRY, incomplete="it was interrupted")).plain == "passed, incomplete"
    assert verdict_text(replace(ENTRY, whole=None)).plain == "no verdict"


def test_a_row_has_all_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    Console(width=250).print(runs_table([ENTRY, Damaged("run-0", "drill.json is not JSON")]))
    told = capsys.readouterr().out.splitlines()
    assert told[1].split("  ")[0] == "run-1"
    for cell in ("2026-12-01 10:00", "700", "400 ms", "no answer", "1.5 %", "passed", "abcdef01+", "2 x card"):
        assert cell in told[1]
    assert "damaged: drill.json is not JSON" in told[2]


def test_names_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    strange = replace(ENTRY, run="run[/]", fleet=("[bold]card[/x]",), revision="[/]", shape="[/]")
    Console(width=250).print(runs_table([strange, Damaged("old[/]", "[/]")]))
    told = capsys.readouterr().out
    assert all(each in told for each in ("run[/]", "[bold]card[/x]", "old[/]"))


def test_what_is_piped_is_wide() -> None:
    assert console().width == 200
