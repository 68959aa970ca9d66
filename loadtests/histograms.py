"""HDR histograms of a run by measure, in microseconds to three digits: small, mergeable, read by other tools too.

A turn that never had its value lies at the top, at an hour, so that failures count in percentiles as they do in the
figures. The figures themselves are made of rows.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hdrh.histogram import HdrHistogram

from loadtests.domain.rows import Kind, Row
from loadtests.domain.spread import MEASURES, times

LOWEST_US, HIGHEST_US, DIGITS = 1, 3_600_000_000, 3


def _empty() -> dict[str, HdrHistogram]:
    return {name: HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS) for name in MEASURES}


@dataclass(frozen=True, slots=True)
class Histograms:
    """Of one worker as it goes, or of several together."""

    by_measure: Mapping[str, HdrHistogram] = field(default_factory=_empty)

    def record(self, row: Row) -> None:
        """Only turns count."""
        if row.kind is Kind.TURN:
            for name, measure in MEASURES.items():
                for seconds in times([row], measure):
                    self.by_measure[name].record_value(_within(seconds * 1e6))

    def add(self, other: "Histograms") -> None:
        for name, histogram in other.by_measure.items():
            self.by_measure[name].add(histogram)

    def count(self, measure: str) -> int:
        return int(self.by_measure[measure].get_total_count())

    def percentile_s(self, measure: str, thousandths: int) -> float | None:
        """To three digits, by nearest rank; an hour where a turn never had its value, None of none."""
        count = self.count(measure)
        if count == 0:
            return None
        # Asked for 95 % of 6 values the library takes the nearest whole rank, which may be the one below.
        rank = max(1, -(-thousandths * count // 1000))
        return float(self.by_measure[measure].get_value_at_percentile(100 * rank / count)) / 1e6

    def write(self, file: Path) -> None:
        told = {name: histogram.encode().decode() for name, histogram in self.by_measure.items()}
        file.write_text(json.dumps({"unit": "us", "digits": DIGITS, "histograms": told}))


def read_histograms(file: Path) -> Histograms:
    """Raises `ValueError` for a file that holds none."""
    try:
        told = json.loads(file.read_text())["histograms"]
        return Histograms({name: HdrHistogram.decode(told[name].encode()) for name in MEASURES})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file.name} holds no histograms of a load drill") from error


def merged(files: Iterable[Path]) -> Histograms:
    together = Histograms()
    for file in files:
        together.add(read_histograms(file))
    return together


def _within(microseconds: float) -> int:
    return round(min(max(microseconds, LOWEST_US), HIGHEST_US))
