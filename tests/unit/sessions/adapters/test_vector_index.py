"""Vectors are compared by direction; odd ones are left out."""

from array import array

import pytest

from sessions.adapters.vector_index import MatrixIndexer
from sessions.domain.ranking import Place


def vector(*numbers: float) -> bytes:
    return array("f", numbers).tobytes()


async def test_the_nearest_come_first_by_direction_not_length() -> None:
    index = await MatrixIndexer().index(
        {Place(4): vector(0, 9), Place(7): vector(1, 1), Place(9): vector(0.1, 0), Place(2): vector(-1, 0)}
    )
    hits = await index.nearest(vector(5, 0), limit=3)
    assert [hit.place for hit in hits] == [9, 7, 4]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.5**0.5, 0.0])


async def test_vectors_of_another_length_are_left_out() -> None:
    index = await MatrixIndexer().index({Place(0): vector(1, 0), Place(1): vector(1, 0, 0)})
    assert [hit.place for hit in (await index.nearest(vector(1, 0), limit=5))] == [0]
    assert (await index.nearest(vector(1, 0, 0), limit=5)) == []


async def test_a_vector_of_zeros_is_near_to_nothing() -> None:
    index = await MatrixIndexer().index({Place(0): vector(0, 0), Place(1): vector(1, 0)})
    assert [hit.score for hit in (await index.nearest(vector(1, 0), limit=5))] == [1.0, 0.0]
    assert [hit.score for hit in (await index.nearest(vector(0, 0), limit=5))] == [0.0, 0.0]


async def test_without_vectors_nothing_is_near() -> None:
    index = await MatrixIndexer().index({})
    assert ((await index.nearest(vector(1, 0), limit=5)), index.size_bytes) == ([], 0)


async def test_its_size_is_that_of_its_numbers() -> None:
    assert (await MatrixIndexer().index({Place(0): vector(1, 0), Place(1): vector(0, 1)})).size_bytes == 16
