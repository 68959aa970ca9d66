"""The decisions are measured, and stay far from a millisecond even on a busy machine."""

import pytest

from loadtests.overhead.decisions import main, measure


def test_every_decision_has_its_figure() -> None:
    figures = measure(replicas=300, times=20)
    assert len(figures) == 7
    assert all(0 < microseconds < 1_000 for microseconds in figures.values())


def test_the_figures_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("loadtests.overhead.decisions.measure", lambda: {"place: pin kept": 1.25})
    main()
    assert capsys.readouterr().out == "     1.2 us  place: pin kept\n"
