"""Looking for phrases is measured, and stays far from a millisecond a chunk even on a busy machine."""

import pytest

from loadtests.overhead.phrase_cost import main, measure


def test_every_text_has_its_figures() -> None:
    figures = measure(phrases=400, length=2_000)
    assert len(figures) == 2 + 2 * 3 * 2
    assert all(0 < figure < 1_000 for figure in figures.values())


def test_the_figures_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("loadtests.overhead.phrase_cost.measure", lambda: {"building: s": 0.25})
    main()
    assert capsys.readouterr().out == "    0.25  building: s\n"
