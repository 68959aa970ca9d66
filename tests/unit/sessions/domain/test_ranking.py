"""Few pieces, the right ones, none twice, within the budget; nothing where nothing fits."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.ranking import (
    USED,
    Hit,
    Place,
    Question,
    are_the_same,
    best_first,
    chosen,
    closeness,
    coverage,
    fused,
    judged,
    meant,
    strength,
    weight,
)


def hits(*scores: tuple[int, float]) -> list[Hit]:
    return [Hit(Place(place), score) for place, score in scores]


HELD: Mapping[Place, Sequence[int]] = {Place(1): [1, 2], Place(2): [1, *([0] * 30), 2], Place(3): [3]}


def no_limit(_: Sequence[Place]) -> bool:
    return True


def each_its_own(place: Place) -> Sequence[int]:
    return [place]


def shown(ranked: Sequence[Hit], fits: Mapping[Place, int] | None = None, room: int = 0) -> list[int]:
    def fitting(places: Sequence[Place]) -> bool:
        return fits is None or sum(fits[place] for place in places) <= room

    return [hit.place for hit in chosen(ranked, terms_of=each_its_own, fits=fitting)]


class TestWeights:
    def test_a_rare_term_weighs_more_than_a_common_one(self) -> None:
        assert weight(1, 100) > weight(50, 100) > weight(100, 100) > 0

    def test_coverage_is_the_share_of_the_weight(self) -> None:
        assert coverage(Question({1: 3.0, 2: 1.0}), [1, 1, 7]) == 0.75
        assert coverage(Question({1: 3.0, 2: 1.0}), [2, 1]) == 1.0
        assert coverage(Question({}), [1]) == 0.0

    def test_terms_that_stand_together_are_close(self) -> None:
        apart = [1, *([0] * 40), 2]
        assert closeness(Question({1: 1.0, 2: 1.0}), [0, 1, 2, 0]) == 1.0
        assert closeness(Question({1: 1.0, 2: 1.0}), apart) == 0.5
        assert closeness(Question({1: 1.0}), [0, 2]) == 0.0
        assert closeness(Question({}), [1, 2]) == 0.0

    def test_a_term_said_twice_counts_until_its_last_place_is_passed(self) -> None:
        assert closeness(Question({1: 1.0, 2: 1.0}), [1, *([0] * 9), 1, *([0] * 9), 2]) == 1.0

    @given(st.dictionaries(st.integers(0, 5), st.floats(0.1, 9), max_size=4), st.lists(st.integers(0, 6), max_size=60))
    def test_closeness_is_what_the_best_window_covers(self, question: dict[int, float], piece: list[int]) -> None:
        windows = [piece[at : at + 16] for at in range(max(1, len(piece) - 15))]
        assert closeness(Question(question), piece) == pytest.approx(
            max(coverage(Question(question), window) for window in windows)
        )


class TestFusion:
    def test_what_both_lists_have_comes_first(self) -> None:
        assert fused([hits((1, 9), (2, 8)), hits((2, 0.9), (3, 0.8))], limit=10) == [2, 1, 3]

    def test_ties_fall_by_place_and_the_limit_holds(self) -> None:
        assert fused([hits((5, 1)), hits((4, 1))], limit=1) == [4]

    def test_nothing_found_is_nothing(self) -> None:
        assert fused([[], []], limit=10) == []

    def test_strength_is_the_share_of_each_lists_best(self) -> None:
        words, likeness = hits((1, 8), (2, 4)), hits((2, 0.5), (1, 0.4))
        assert strength(Place(2), [words, likeness]) == pytest.approx(0.75)
        assert strength(Place(3), [words, likeness]) == 0.0

    def test_an_empty_list_says_nothing(self) -> None:
        assert strength(Place(1), [hits((1, 8)), []]) == 1.0
        assert strength(Place(1), [[]]) == 0.0

    def test_a_best_of_nothing_gives_no_share(self) -> None:
        assert strength(Place(1), [hits((1, 0.0))]) == 0.0

    def test_best_first_is_by_score_then_place(self) -> None:
        assert best_first({Place(2): 1.0, Place(1): 1.0, Place(3): 2.0}) == hits((3, 2), (1, 1), (2, 1))


class TestJudgement:
    def test_pieces_that_hold_the_question_by_chance_are_dropped(self) -> None:
        question = Question({1: 1.0, 2: 1.0, 3: 0.1})
        assert meant(question, hits((1, 2), (3, 1)), HELD.__getitem__) == hits((1, 2))

    def test_characters_must_be_half_of_the_question(self) -> None:
        question = Question({1: 1.0, 2: 1.0, 3: 1.0}, is_by_characters=True)
        assert meant(question, hits((1, 2), (3, 1)), HELD.__getitem__) == hits((1, 2))

    def test_of_equals_the_piece_whose_terms_stand_together_is_better(self) -> None:
        lists = [hits((1, 5), (2, 5))]
        ranked = judged(Question({1: 1.0, 2: 1.0}), [Place(2), Place(1)], lists, HELD.__getitem__)
        assert ranked == hits((1, 1.0), (2, 0.75))


class TestChoice:
    def test_nothing_ranked_is_nothing_shown(self) -> None:
        assert shown([]) == []

    def test_pieces_far_below_the_best_are_left_out(self) -> None:
        assert shown(hits((1, 1.0), (2, 0.3), (3, 0.2))) == [1, 2]

    def test_more_than_three_only_if_nearly_as_good(self) -> None:
        assert shown(hits((1, 1.0), (2, 0.9), (3, 0.5), (4, 0.55))) == [1, 2, 3]
        assert shown(hits((1, 1.0), (2, 0.9), (3, 0.9), (4, 0.8), (5, 0.7), (6, 0.7))) == [1, 2, 3, 4, 5]

    def test_a_piece_that_does_not_fit_makes_room_for_a_smaller_one(self) -> None:
        sizes = {Place(1): 60, Place(2): 50, Place(3): 40}
        assert shown(hits((1, 1.0), (2, 0.9), (3, 0.8)), sizes, room=100) == [1, 3]

    def test_what_was_said_is_not_said_again(self) -> None:
        said = {Place(1): range(20), Place(2): range(1, 20), Place(3): [1, 2]}
        found = chosen(hits((1, 1.0), (2, 0.9), (3, 0.8)), terms_of=said.__getitem__, fits=no_limit)
        assert [hit.place for hit in found] == [1, 3]

    def test_pieces_without_terms_are_alike(self) -> None:
        assert are_the_same(frozenset(), frozenset())
        assert not are_the_same(frozenset({1}), frozenset({2}))

    @given(
        st.lists(st.floats(0.01, 1), max_size=12).map(lambda scores: sorted(scores, reverse=True)),
        st.lists(st.integers(1, 300), min_size=12, max_size=12),
        st.integers(0, 700),
    )
    def test_what_is_shown_fits_and_is_in_order(self, scores: list[float], sizes: list[int], room: int) -> None:
        by_place = {Place(at): size for at, size in enumerate(sizes)}
        places = shown(hits(*enumerate(scores)), by_place, room)
        assert sum(by_place[Place(place)] for place in places) <= room
        assert places == sorted(places)
        assert len(places) <= USED
