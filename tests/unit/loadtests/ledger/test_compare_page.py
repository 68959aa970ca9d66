"""The page of a comparison: charts with the right values, warnings, and no network."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.ledger.compare_page import compare_page
from loadtests.ledger.comparing import Held, held, side_of
from tests.support.crowd_rows import Crowd, crowd_rows
from tests.support.kept_runs import kept_run


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Held:
    folder: Path = tmp_path_factory.mktemp("runs")
    before = kept_run(folder / "a<b", rows=crowd_rows(Crowd(seed=1)))
    after = kept_run(folder / "later", rows=crowd_rows(Crowd(seed=2, slower=1.5, failing=0.02)))
    return held(side_of([before]), side_of([after]))


def test_it_needs_no_network_and_escapes_names(found: Held) -> None:
    page = compare_page(found)
    assert not re.search(r"(?:src|href)=|@import|url\(", page)
    assert "a<b" not in page
    assert "a&lt;b" in page


def test_every_metric_stands_in_the_table_and_finite_ones_in_the_chart(found: Held) -> None:
    page = compare_page(found)
    for metric in found.comparison.metrics:
        assert f">{metric.name}<" in page
    chart = page[page.index("Change against before") : page.index("As a table")]
    assert "ttft_p95_s" in chart
    assert "ttft_p99_s" not in chart  # two of a hundred failed: its change has no end


def test_what_became_worse_is_red_and_what_is_not_comparable_is_in_doubt(found: Held) -> None:
    assert 'class="verdict bad"' in compare_page(found)
    assert 'class="verdict doubt"' in compare_page(replace(found, warnings=("c is void",)))
    assert "c is void" in compare_page(replace(found, warnings=("c is void",)))
    assert "the fleet was x" in compare_page(replace(found, change="the fleet was x"))
    same = held(found.before, found.before)
    assert 'class="verdict good"' in compare_page(same)


def test_first_texts_by_turn_are_of_both_sides(found: Held) -> None:
    page = compare_page(found)
    for name in ("before, p50", "before, p95", "after, p50", "after, p95"):
        assert name in page
