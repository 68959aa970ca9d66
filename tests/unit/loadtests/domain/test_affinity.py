"""Which sessions left their replica without a reason."""

import pytest

from loadtests.domain.affinity import Moves, Trouble, moves_of, troubles
from loadtests.domain.server import Event, EventKind, ReplicaSample
from tests.support.load_rows import a_failed_turn, a_turn

ONE, TWO = "replica-1", "replica-2"
BEFORE = a_turn(1, at_s=0.0, replica=ONE)
AFTER = a_turn(2, at_s=10.0, replica=TWO)


def fault(at_s: float, target: str = ONE) -> Event:
    return Event(at_s=at_s, kind=EventKind.FAULT, target=target, note="kill")


def mended(at_s: float, target: str = ONE) -> Event:
    return Event(at_s=at_s, kind=EventKind.MENDED, target=target)


def look(at_s: float, *, up: bool, replica: str = ONE) -> ReplicaSample:
    return ReplicaSample(at_s=at_s, replica=replica, up=up)


def test_a_session_that_stays_has_no_moves() -> None:
    assert moves_of([BEFORE, a_turn(2, at_s=10.0)], []) == Moves(broken=0, moved=0)


def test_a_move_without_a_reason_is_broken_affinity() -> None:
    assert moves_of([BEFORE, AFTER], []) == Moves(broken=1, moved=0)


def test_back_again_is_another_move() -> None:
    assert moves_of([BEFORE, AFTER, a_turn(3, at_s=20.0, replica=ONE)], []) == Moves(broken=2, moved=0)


@pytest.mark.parametrize(
    ("trouble", "is_reason"),
    [
        (Trouble(ONE, 5.0, None), True),
        (Trouble(ONE, 5.0, 8.0), True),
        (Trouble(ONE, 1.0, 1.5), True),
        (Trouble(ONE, -9.0, 0.0), True),
        (Trouble(ONE, -9.0, -1.0), False),
        (Trouble(ONE, 12.6, 20.0), True),
        (Trouble(ONE, 13.0, 20.0), False),
        (Trouble(TWO, 5.0, None), False),
    ],
)
def test_a_reason_touches_the_replica_that_was_left_between_both_turns(trouble: Trouble, *, is_reason: bool) -> None:
    assert moves_of([BEFORE, AFTER], [trouble]) == Moves(broken=int(not is_reason), moved=int(is_reason))


def test_a_reply_that_went_on_elsewhere_has_moved() -> None:
    assert moves_of([BEFORE, a_turn(2, at_s=10.0, replica=TWO, continued=True)], []) == Moves(broken=0, moved=1)


def test_a_turn_that_ran_nowhere_says_nothing() -> None:
    assert moves_of([BEFORE, a_failed_turn(2), a_turn(3, replica=ONE)], []) == Moves(broken=0, moved=0)
    assert moves_of([BEFORE, a_failed_turn(2), a_turn(3, at_s=20.0, replica=TWO)], []) == Moves(broken=1, moved=0)


def test_faults_last_until_they_are_mended() -> None:
    events = [mended(9.0), fault(5.0), fault(6.0, TWO), Event(at_s=0.0, kind=EventKind.BELL), fault(20.0), mended(4.0)]
    assert troubles(events, []) == [Trouble(ONE, 5.0, 9.0), Trouble(TWO, 6.0, None), Trouble(ONE, 20.0, None)]


def test_a_replica_that_did_not_answer_was_in_trouble_since_it_last_did() -> None:
    looks = [look(3.0, up=False), look(1.0, up=True), look(2.0, up=False), look(4.0, up=True), look(5.0, up=True)]
    assert troubles([], looks) == [Trouble(ONE, 1.0, 4.0)]


def test_one_that_never_answered_is_in_trouble_from_the_first_look_on() -> None:
    assert troubles([], [look(2.0, up=False), look(3.0, up=False), look(3.0, up=True, replica=TWO)]) == [
        Trouble(ONE, 2.0, None)
    ]
