"""How near pieces of one document are to a question, by the words and pairs of Chinese characters they share.

Within one document that is enough to choose what stands beside its summary; whole knowledge bases are searched by an
index.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from sessions.domain.terms import HAN, has_chinese

_PIECES = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+")
_LINKED = re.compile(r"\d+(?:[.,]\d+)+")


def grams(text: str) -> frozenset[str]:
    """Words in small letters, and numbers such as 4.3 also as a whole; of a run of Chinese characters each pair, or the
    one that stands alone."""
    found: set[str] = set(_LINKED.findall(text))
    for piece in _PIECES.findall(text.casefold()):
        if len(piece) > 1 and has_chinese(piece):
            found.update(piece[at : at + 2] for at in range(len(piece) - 1))
        else:
            found.add(piece)
    return frozenset(found)


def nearest(question: str, pieces: Sequence[str]) -> list[tuple[int, float]]:
    """The places of the pieces that share something with the question, nearest first, each with its share from 0 to 1.

    What many pieces hold weighs little.
    """
    wanted, held = grams(question), [grams(piece) for piece in pieces]
    spread = Counter(gram for each in held for gram in each & wanted)
    weights = {gram: math.log(1 + len(pieces) / spread[gram]) for gram in spread}
    whole = sum(weights.values())
    scores = [(place, sum(weights[gram] for gram in each & wanted) / whole) for place, each in enumerate(held) if whole]
    return sorted(((place, score) for place, score in scores if score > 0), key=lambda found: (-found[1], found[0]))
