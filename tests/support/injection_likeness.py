"""Learns what injections are worded like: `python -m tests.support.injection_likeness` tells how good that is, and with
`write` it writes gateway/domain/moderation/likeness_weights.py anew.

Nothing is learnt from the texts that are held back. How good it is on a set is told by what was learnt from the others.
"""

import sys
import zlib
from base64 import b85encode
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.injection import Surface
from gateway.domain.moderation.injection_marks import Lexicon
from gateway.domain.moderation.likeness import BITS, MOST_CHARACTERS, features
from tests.support.injection_figures import SETS, Sample, samples

LEARNT_FROM = ("development", "later", "outsider", "ordinary_codes")
"""The last are numbers, paths, lists and programs, which are like neither talk nor attacks."""
TARGET = Path(__file__).parents[2] / "gateway" / "domain" / "moderation" / "likeness_weights.py"
FALSE_ALARMS = 0.02
"""Share of ordinary texts that may be taken for injections, each judged by what was learnt without it."""
_STEPS, _RATE, _MOMENTUM, _DECAY = 250, 8.0, 0.9, 2e-4
_PARTS = 5
_WIDTH = 110

Numbers = NDArray[np.float64]
_LEXICON = Lexicon(Folding())


class Learnt(NamedTuple):
    weights: Numbers
    bias: float

    def odds(self, texts: "Texts") -> Numbers:
        return texts.dot(self.weights) + self.bias


class Texts:
    """What texts are made of, as a sparse matrix, and which of them are attacks."""

    def __init__(self, found: Sequence[Sample]) -> None:
        made_of = [np.array(sorted(features(_LEXICON.read(each.text).text))) for each in found]
        lengths = np.array([len(each) for each in made_of])
        self.samples = list(found)
        self.attacks = np.array([float(each.is_attack) for each in found])
        self._columns = np.concatenate(made_of)
        self._rows = np.repeat(np.arange(len(found)), lengths)
        self._values = (1 / np.sqrt(lengths))[self._rows]
        self._starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])

    def dot(self, weights: Numbers) -> Numbers:
        parts: Numbers = np.add.reduceat(weights[self._columns] * self._values, self._starts)
        return parts

    def back(self, errors: Numbers) -> Numbers:
        sums: Numbers = np.bincount(self._columns, errors[self._rows] * self._values, 1 << BITS).astype(np.float64)
        return sums


def said(half: str) -> list[Sample]:
    """What people say, of a length that is looked at."""
    return [each for each in samples(half) if each.surface is Surface.USER and len(each.text) <= MOST_CHARACTERS]


def learn(texts: Texts) -> Learnt:
    """Gradient descent with momentum on the logistic loss, with weight decay."""
    weights, bias = np.zeros(1 << BITS), 0.0
    speed, bias_speed = np.zeros(1 << BITS), 0.0
    for _ in range(_STEPS):
        errors = 1 / (1 + np.exp(-(texts.dot(weights) + bias))) - texts.attacks
        speed = _MOMENTUM * speed - _RATE * (texts.back(errors) / len(errors) + _DECAY * weights)
        bias_speed = _MOMENTUM * bias_speed - _RATE / 10 * float(errors.mean())
        weights, bias = weights + speed, bias + bias_speed
    return Learnt(weights, bias)


def least(found: Sequence[Sample]) -> float:
    """The odds that `FALSE_ALARMS` of the ordinary texts reach, by what was learnt from other parts of the texts."""
    mixed = sorted(found, key=lambda each: zlib.crc32(each.text.encode()))
    ordinary: list[float] = []
    for part in range(_PARTS):
        judged = Texts(mixed[part::_PARTS])
        odds = learn(Texts([each for at, each in enumerate(mixed) if at % _PARTS != part])).odds(judged)
        ordinary += [float(each) for each, attack in zip(odds, judged.attacks, strict=True) if not attack]
    return float(np.quantile(ordinary, 1 - FALSE_ALARMS))


def table(name: str) -> str:
    others = [each for half in LEARNT_FROM if half != name for each in said(half)]
    judged, limit = Texts(said(name)), least(others)
    odds, lines = learn(Texts(others)).odds(judged), list[str]()
    for is_attack in (True, False):
        for language in ("en", "zh"):
            those = [
                odds[at] >= limit
                for at, each in enumerate(judged.samples)
                if each.is_attack is is_attack and each.language == language
            ]
            lines.append(
                f"{name:12} {'attack' if is_attack else 'benign'} {language} {np.mean(those):6.1%} of {len(those)}"
            )
    return "\n".join(lines)


def written() -> str:
    """The module that holds what is learnt from all texts but those held back."""
    found = [each for half in LEARNT_FROM for each in said(half)]
    learnt = learn(Texts(found))
    scale = float(np.abs(learnt.weights).max()) / 127
    packed = b85encode(zlib.compress(np.round(learnt.weights / scale).astype(np.int8).tobytes(), 9)).decode()
    lines = [f"    {packed[at : at + _WIDTH]!r}," for at in range(0, len(packed), _WIDTH)]
    return "\n".join(
        [
            '"""What `likeness` has learnt; written by `tests.support.injection_likeness`, never by hand."""',
            "",
            f"BIAS = {learnt.bias:.6f}",
            f"SCALE = {scale:.8f}",
            f"LEAST = {least(found):.4f}",
            "WEIGHTS = (",
            *lines,
            ")",
            "",
        ]
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        TARGET.write_text(written(), encoding="utf-8")
    else:
        sys.stdout.write("\n".join(table(name) for name in SETS) + "\n")
