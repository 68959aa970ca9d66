"""Says how much a text is like known injections by its wording alone, whatever rules make of it.

A logistic regression on what a text is made of: groups of one to three characters, words, pairs of words, and pairs
with a word between. Each is known by a hash (K. Weinberger et al., Feature Hashing for Large Scale Multitask Learning,
2009). `tests.support.injection_likeness` learns the weights from the texts that are not held back, and tells how good
they are.
"""

import re
from array import array
from base64 import b85decode
from collections.abc import Iterator
from itertools import pairwise
from math import sqrt
from zlib import crc32, decompress

from gateway.domain.moderation.likeness_weights import BIAS, LEAST, SCALE, WEIGHTS

BITS = 14
MOST_CHARACTERS = 400
"""It was learnt from what people say in one go, and would say nothing of longer texts."""
_BLANKS = re.compile(r"\s+")
_FIGURE = re.compile(r"\d")
_WORD = re.compile(r"[a-z']+")


def features(text: str) -> frozenset[int]:
    """The hashes, below 2 ** BITS, of all that a text is made of; small letters are expected."""
    most = (1 << BITS) - 1
    return frozenset(crc32(part.encode("utf-8", "surrogatepass")) & most for part in set(_parts(text)))


def _parts(text: str) -> Iterator[str]:
    padded = f" {_FIGURE.sub('0', _BLANKS.sub(' ', text))} "
    for length in (1, 2, 3):
        yield from (padded[at : at + length] for at in range(len(padded) - length + 1))
    words = _WORD.findall(padded)
    yield from (f"w:{word}" for word in words)
    yield from (f"w:{one} {next_one}" for one, next_one in pairwise(words))
    yield from (f"s:{one} {other}" for one, other in zip(words, words[2:], strict=False))


class Likeness:
    def __init__(self) -> None:
        self._weights = array("b", decompress(b85decode("".join(WEIGHTS))))

    def of(self, text: str) -> float:
        """The logarithm of the odds that it is an injection, as far as its wording goes."""
        found = features(text)
        return BIAS + SCALE * sum(map(self._weights.__getitem__, found)) / sqrt(len(found))

    def is_like_injections(self, text: str) -> bool:
        """Whether it is more so than nearly all that people ordinarily say; False for what is longer than that."""
        return len(text) <= MOST_CHARACTERS and self.of(text) >= LEAST
