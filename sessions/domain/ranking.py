"""Which pieces of a knowledge base belong to a question: recall's lists fused, judged, and cut to the few that help.

Terms are compared as numbers; a question is a weight for each of its terms, heavier the fewer pieces hold the term.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NewType

Place = NewType("Place", int)
"""Of a chunk among all chunks of one version of a base."""

RECALLED = 50
RERANKED = 10
USED = 5
USED_ANYWAY = 3
"""A fourth and a fifth piece are only used when they are nearly as good as the best."""

_FUSION = 60  # of Cormack, Clarke and Büttcher 2009: how little the first places stand out
_WINDOW = 16
_FAR_BELOW = 0.25
_NEARLY_AS_GOOD = 0.6
_SAME = 0.9

_LEAST_OF_WORDS = 0.08
_LEAST_OF_CHARACTERS = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: terms with their weights, also those that no piece holds."""

    weights: Mapping[int, float]
    is_by_characters: bool = False
    """Whether no piece holds any of its words, so that their characters stand for them."""

    @property
    def least_coverage(self) -> float:
        """The share of the weight under which a piece holds it by chance. People say much around what they ask, and
        characters are found everywhere."""
        return _LEAST_OF_CHARACTERS if self.is_by_characters else _LEAST_OF_WORDS


@dataclass(frozen=True, slots=True)
class Hit:
    """A piece that recall found. Scores of one list are comparable, those of two lists are not."""

    place: Place
    score: float


def weight(holding: int, pieces: int) -> float:
    """Of a term that so many of the pieces hold, as BM25 has it."""
    return math.log(1 + (pieces - holding + 0.5) / (holding + 0.5))


def coverage(question: Question, piece: Iterable[int]) -> float:
    """The share of the question's weight that the piece holds anywhere, from 0 to 1."""
    weights = question.weights
    total = sum(weights.values())
    return sum(weights.get(term, 0.0) for term in set(piece)) / total if total else 0.0


def closeness(question: Question, piece: Sequence[int]) -> float:
    """The largest share of the question's weight that stands close together in the piece, from 0 to 1."""
    weights = question.weights
    total = sum(weights.values())
    inside, held, best = Counter[int](), 0.0, 0.0
    for at, term in enumerate(piece):
        if at >= _WINDOW:
            held -= _leave(inside, piece[at - _WINDOW], weights)
        if term in weights:
            held += 0.0 if inside[term] else weights[term]
            inside[term] += 1
            best = max(best, held)
    return min(1.0, best / total) if total else 0.0


def _leave(inside: Counter[int], term: int, weights: Mapping[int, float]) -> float:
    """The weight that goes with a term which the window has passed."""
    if term not in weights:
        return 0.0
    inside[term] -= 1
    return 0.0 if inside[term] else weights[term]


def meant(question: Question, hits: Iterable[Hit], terms_of: Callable[[Place], Sequence[int]]) -> list[Hit]:
    """The hits that hold enough of the question not to be there by chance."""
    return [hit for hit in hits if coverage(question, terms_of(hit.place)) >= question.least_coverage]


def judged(
    question: Question,
    places: Iterable[Place],
    lists: Sequence[Sequence[Hit]],
    terms_of: Callable[[Place], Sequence[int]],
) -> list[Hit]:
    """The places best first, where no model judges: by recall's scores, and by how close together the terms stand."""
    return best_first(
        {place: strength(place, lists) * (1 + closeness(question, terms_of(place))) / 2 for place in places}
    )


def fused(lists: Iterable[Sequence[Hit]], *, limit: int) -> list[Place]:
    """Several recalls as one, by the places in their lists alone (reciprocal rank fusion); ties by place."""
    points = defaultdict[Place, float](float)
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            points[hit.place] += 1 / (_FUSION + rank)
    return sorted(points, key=lambda place: (-points[place], place))[:limit]


def strength(place: Place, lists: Sequence[Sequence[Hit]]) -> float:
    """How near a piece comes to the best of each list, from 0 to 1; ranks alone would not tell."""
    found = [_share(place, hits) for hits in lists if hits]
    return sum(found) / len(found) if found else 0.0


def _share(place: Place, hits: Sequence[Hit]) -> float:
    best = hits[0].score
    return next((hit.score / best for hit in hits if hit.place == place and best > 0), 0.0)


def best_first(scores: Mapping[Place, float]) -> list[Hit]:
    return [Hit(place, scores[place]) for place in sorted(scores, key=lambda place: (-scores[place], place))]


def are_the_same(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether two pieces say nearly the same, by their terms."""
    both = len(one & other)
    return both >= _SAME * (len(one) + len(other) - both)


def chosen(
    ranked: Sequence[Hit],
    *,
    terms_of: Callable[[Place], Sequence[int]],
    fits: Callable[[Sequence[Place]], bool],
) -> list[Hit]:
    """The pieces to show, best first: none twice, none far below the best, and no more than fit together."""
    taken: list[Hit] = []
    for hit in ranked:
        if len(taken) == USED or hit.score < _bar(ranked[0].score, len(taken)):
            break
        places = [each.place for each in taken]
        said = [frozenset(terms_of(place)) for place in places]
        is_new = not any(are_the_same(frozenset(terms_of(hit.place)), each) for each in said)
        if is_new and fits([*places, hit.place]):
            taken.append(hit)
    return taken


def _bar(best: float, taken: int) -> float:
    return best * (_NEARLY_AS_GOOD if taken >= USED_ANYWAY else _FAR_BELOW)
