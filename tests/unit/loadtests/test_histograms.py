"""Histograms hold to three digits what the rows say exactly."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadtests.domain.rows import Kind, Row
from loadtests.domain.spread import MEASURES, of
from loadtests.histograms import Histograms, merged, read_histograms
from tests.support.load_rows import a_failed_turn, a_turn

PRECISION = 1e-3
SECONDS = st.floats(0.001, 600)


def recorded(rows: list[Row]) -> Histograms:
    histograms = Histograms()
    for row in rows:
        histograms.record(row)
    return histograms


@settings(max_examples=10, deadline=None)
@given(st.lists(SECONDS, min_size=1, max_size=200))
def test_percentiles_are_those_of_the_rows_within_the_precision(seconds: list[float]) -> None:
    rows = [a_turn(first_s=each, last_s=each + 1) for each in seconds]
    histograms = recorded(rows)
    for measure in MEASURES:
        exact = of(measure, rows)
        assert histograms.count(measure) == exact.count
        for thousandths, value in ((500, exact.p50), (900, exact.p90), (950, exact.p95), (990, exact.p99)):
            assert histograms.percentile_s(measure, thousandths) == pytest.approx(value, rel=PRECISION, abs=1e-6)


def test_a_turn_that_failed_lies_at_the_top() -> None:
    rows = [a_turn(), a_failed_turn()]
    assert of("ttft", rows).p99 == math.inf
    assert recorded(rows).percentile_s("ttft", 990) == pytest.approx(3600, rel=PRECISION)
    assert recorded(rows).percentile_s("ttft", 500) == pytest.approx(0.5, rel=PRECISION)


def test_only_turns_count() -> None:
    assert recorded([a_turn(kind=Kind.RESUME), a_turn()]).count("e2e") == 1


def test_no_time_at_all_is_the_least_there_is() -> None:
    assert recorded([a_turn(first_s=0.0)]).percentile_s("ttft", 500) == pytest.approx(1e-6)


def test_files_of_many_workers_together_are_those_of_one(tmp_path: Path) -> None:
    rows = [a_turn(first_s=0.1 + n / 10, last_s=3.0 + n) for n in range(40)]
    files = [tmp_path / f"hdr-{worker}.json" for worker in range(3)]
    for worker, file in enumerate(files):
        recorded(rows[worker::3]).write(file)
    together, alone = merged(files), recorded(rows)
    for measure in MEASURES:
        assert together.count(measure) == alone.count(measure)
        for thousandths in (500, 950, 1000):
            assert together.percentile_s(measure, thousandths) == alone.percentile_s(measure, thousandths)


def test_of_no_files_there_is_nothing() -> None:
    assert merged([]).count("ttft") == 0
    assert merged([]).percentile_s("ttft", 950) is None


@pytest.mark.parametrize("text", ["", "7", "[]", "{}", '{"histograms": {"ttft": 7}}'])
def test_a_file_without_histograms_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "hdr-0.json"
    file.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011  JSON's own words, or ours
        read_histograms(file)
