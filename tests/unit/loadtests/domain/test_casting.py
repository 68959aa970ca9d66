"""Each part is handed out once."""

from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.casting import Casting


@given(st.integers(0, 20), st.lists(st.sampled_from("abc"), max_size=40))
def test_each_part_is_handed_out_once_whoever_asks(parts: int, askers: list[str]) -> None:
    casting = Casting(parts)
    given_out = [part for asker in askers if (part := casting.hand_out(asker)) is not None]
    assert given_out == list(range(min(parts, len(askers))))


def test_a_drill_is_through_when_every_part_is_over() -> None:
    casting = Casting(2)
    assert (casting.is_through, casting.unplayed) == (False, 2)
    assert (casting.hand_out("a"), casting.hand_out("b"), casting.hand_out("a")) == (0, 1, None)
    casting.over(0)
    casting.over(0)
    assert (casting.is_through, casting.unplayed) == (False, 1)
    casting.over(1)
    assert (casting.is_through, casting.unplayed) == (True, 0)


def test_what_a_lost_worker_played_was_not_played_and_nobody_waits_for_it() -> None:
    casting = Casting(3)
    for worker in "aba":
        casting.hand_out(worker)
    casting.over(0)
    casting.lose("a")
    assert (casting.is_through, casting.unplayed) == (False, 2)
    casting.over(1)
    assert (casting.is_through, casting.unplayed) == (True, 1)


def test_nothing_to_play_is_through_at_once() -> None:
    assert Casting(0).is_through
