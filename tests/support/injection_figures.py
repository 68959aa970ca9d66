"""Measures the injection score: `python -m tests.support.injection_figures [development|...]` prints the table.

The held-back half was written before any rule and is never looked at to change one. The halves are parted by a hash of
the text.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gateway.domain.moderation.injection import InjectionScorer, InjectionVerdict, Surface, Thresholds, verdict_on

FOLDER = Path(__file__).parents[1] / "data" / "injection"
HALVES = ("development", "held_back")
SETS = (*HALVES, "later", "outsider")
"""The last two were written for the rules to be measured on, the outsider's by somebody who had not seen them; both
were used to widen them after that.
"""


class Sample(NamedTuple):
    text: str
    is_attack: bool
    language: str
    kind: str
    surface: Surface


class Figures(NamedTuple):
    """How many of some texts were allowed, flagged and blocked."""

    allowed: int
    flagged: int
    blocked: int

    @property
    def total(self) -> int:
        return sum(self)

    @property
    def caught(self) -> float:
        return (self.flagged + self.blocked) / self.total


def samples(half: str) -> list[Sample]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Sample(row["text"], row["label"] == "attack", row["language"], row["kind"], Surface(row["surface"]))
        for row in map(json.loads, lines)
    ]


def figures(texts: Iterable[Sample], thresholds: Thresholds) -> Figures:
    scorer = InjectionScorer()
    verdicts = Counter(verdict_on(scorer.score(each.text, each.surface), thresholds) for each in texts)
    return Figures(verdicts[InjectionVerdict.ALLOW], verdicts[InjectionVerdict.FLAG], verdicts[InjectionVerdict.BLOCK])


def table(texts: list[Sample], thresholds: Thresholds) -> str:
    """By what a text is, its language and its kind, with the sum of each language."""
    lines = [f"{'':8} {'':4} {'kind':12} {'texts':>5} {'allowed':>8} {'flagged':>8} {'blocked':>8}"]
    for is_attack in (True, False):
        for language in ("en", "zh"):
            those = [each for each in texts if each.is_attack is is_attack and each.language == language]
            for kind in (*sorted({each.kind for each in those}), "all"):
                found = figures((each for each in those if kind in {each.kind, "all"}), thresholds)
                shares = " ".join(f"{count / found.total:8.1%}" for count in found)
                lines.append(f"{'attack' if is_attack else 'benign':8} {language:4} {kind:12} {found.total:5} {shares}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table(samples(sys.argv[1] if len(sys.argv) > 1 else "held_back"), Thresholds()) + "\n")
