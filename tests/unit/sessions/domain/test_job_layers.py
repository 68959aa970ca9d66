"""How a document is cut into chapters, and those into layers."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.citation import DocumentId
from sessions.domain.job import ItemKind, ItemPlan
from sessions.domain.job_layers import LayerSizes, chapters, layered_plans, question_plans
from sessions.domain.knowledge import Chunk

DOCUMENT = DocumentId(uuid4())
ASKED = ("What for?", "为什么?")


def chunk(number: int, *, heading: str = "", tokens: int = 100) -> Chunk:
    return Chunk(DOCUMENT, "Handbook", number, heading, f"text {number}", tokens)


def chunks(*headings: str, tokens: int = 100) -> list[Chunk]:
    return [chunk(number, heading=heading, tokens=tokens) for number, heading in enumerate(headings, start=1)]


def sizes(stretch: int, *, piece: int = 0) -> LayerSizes:
    return LayerSizes(whole=1, stretch=stretch, summaries=2, piece=piece)


def stretches(plans: tuple[ItemPlan, ...], layer: int) -> list[tuple[int, int]]:
    return [(plan.first, plan.last) for plan in plans if plan.layer == layer]


def test_questions_are_numbered_as_they_were_asked() -> None:
    assert question_plans(ASKED) == (
        ItemPlan(1, 1, ItemKind.QUESTION, "What for?"),
        ItemPlan(1, 2, ItemKind.QUESTION, "为什么?"),
    )


def test_a_document_that_fits_as_it_is_needs_no_summary() -> None:
    whole = LayerSizes(whole=300, stretch=400, summaries=2)
    assert layered_plans(ASKED, chunks("", "", ""), whole) == question_plans(ASKED)


def test_chapters_are_summed_up_again_until_one_summary_is_left() -> None:
    plans = layered_plans(ASKED, chunks(*[""] * 9), LayerSizes(whole=100, stretch=200, summaries=2))
    assert stretches(plans, 1) == [(1, 2), (3, 4), (5, 6), (7, 8), (9, 9)]
    assert stretches(plans, 2) == [(1, 2), (3, 4), (5, 5)]
    assert stretches(plans, 3) == [(1, 2), (3, 3)]
    assert stretches(plans, 4) == [(1, 2)]
    assert [plan.text for plan in plans if plan.layer == 5] == list(ASKED)
    assert all((plan.kind is ItemKind.QUESTION) == (plan.layer == 5) for plan in plans)


def test_a_chapter_ends_where_an_outermost_heading_begins_once_half_is_used() -> None:
    found = chapters(chunks("A", "A > x", "A > y", "B", "C", "C > z"), sizes(500))
    assert list(found) == [(1, 3), (4, 6)]


def test_a_chapter_that_is_too_long_is_cut_where_the_room_ends() -> None:
    assert list(chapters(chunks(*["A"] * 5), sizes(250))) == [(1, 2), (3, 4), (5, 5)]


def test_where_each_chunk_is_from_takes_room_too() -> None:
    assert list(chapters(chunks(*["A"] * 4), sizes(250, piece=30))) == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_a_piece_that_is_larger_than_the_room_stands_alone() -> None:
    assert list(chapters([chunk(1, tokens=900), chunk(2)], sizes(250))) == [(1, 1), (2, 2)]


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(1, 250)), min_size=1, max_size=60), st.integers(2, 5))
def test_every_chunk_and_every_summary_is_summed_up_once(said: list[tuple[str, int]], summaries: int) -> None:
    document = [chunk(number, heading=heading, tokens=tokens) for number, (heading, tokens) in enumerate(said, start=1)]
    plans = layered_plans(ASKED, document, LayerSizes(whole=100, stretch=250, summaries=summaries))
    last = plans[-1].layer
    below = len(document)
    for layer in range(1, last):
        covered = [number for first, last in stretches(plans, layer) for number in range(first, last + 1)]
        assert covered == list(range(1, below + 1))
        below = len(stretches(plans, layer))
    assert last == 1 or below == 1
