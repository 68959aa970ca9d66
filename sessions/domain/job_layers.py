"""How a long document becomes answerable: chapters that fit a prompt each, what they say, what those say together.

The plan is made when the job is, from the document alone, so that whoever goes on with a job finds it as it was begun.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessions.domain.job import ItemKind, ItemPlan
from sessions.domain.knowledge import Chunk


@dataclass(frozen=True, slots=True)
class LayerSizes:
    """What fits into one prompt."""

    whole: int
    """Tokens of a document that stands beside a question as it is."""
    stretch: int
    """Tokens of a document of which a summary is made."""
    summaries: int
    """Summaries of the layer below; at least two."""
    piece: int = 0
    """Tokens of the line that says where a chunk is from."""


def question_plans(questions: Sequence[str], *, layer: int = 1) -> tuple[ItemPlan, ...]:
    return tuple(ItemPlan(layer, number, ItemKind.QUESTION, text) for number, text in enumerate(questions, start=1))


def layered_plans(questions: Sequence[str], chunks: Sequence[Chunk], sizes: LayerSizes) -> tuple[ItemPlan, ...]:
    """Summaries of the chapters, of those again until one is left, then the questions.

    A document that fits beside a question as it is needs no summary.
    """
    if sum(chunk.tokens for chunk in chunks) <= sizes.whole:
        return question_plans(questions)
    plans = [_summary(1, number, *ends) for number, ends in enumerate(chapters(chunks, sizes), start=1)]
    below = plans
    while len(below) > 1:
        layer = below[0].layer + 1
        starts = range(1, len(below) + 1, sizes.summaries)
        below = [
            _summary(layer, number, first, min(first + sizes.summaries - 1, len(below)))
            for number, first in enumerate(starts, start=1)
        ]
        plans += below
    return (*plans, *question_plans(questions, layer=plans[-1].layer + 1))


def chapters(chunks: Sequence[Chunk], sizes: LayerSizes) -> Iterator[tuple[int, int]]:
    """First and last chunk of each: cut where an outermost heading begins once half of the room is used, and at the
    latest where it is full."""
    first, tokens = 0, 0
    for place, chunk in enumerate(chunks):
        more = chunk.tokens + sizes.piece
        is_new = place > 0 and _outermost(chunk) != _outermost(chunks[place - 1])
        if place > first and (tokens + more > sizes.stretch or (is_new and 2 * tokens >= sizes.stretch)):
            yield chunks[first].number, chunks[place - 1].number
            first, tokens = place, 0
        tokens += more
    yield chunks[first].number, chunks[-1].number


def _outermost(chunk: Chunk) -> str:
    return chunk.heading.partition(" > ")[0]


def _summary(layer: int, number: int, first: int, last: int) -> ItemPlan:
    return ItemPlan(layer, number, ItemKind.SUMMARY, "", first, last)
