"""A session whose note failed is left alone for a few turns, and no longer."""

from uuid import uuid4

from sessions.domain.history import History, history
from sessions.domain.session import SessionId
from sessions.use_cases.note_pauses import NotePauses
from tests.support.records_world import failed, turn

SESSION = SessionId(uuid4())


def told(turns: int) -> History:
    return history([], [turn(number) for number in range(1, turns + 1)])


def test_it_is_held_back_until_the_tail_has_grown() -> None:
    pauses = NotePauses()
    assert not pauses.holds_back(SESSION, told(30))
    pauses.begin(SESSION, told(30))
    assert [turns for turns in range(30, 36) if pauses.holds_back(SESSION, told(turns))] == [30, 31, 32]
    pauses.begin(SESSION, told(33))
    assert pauses.holds_back(SESSION, told(35))
    assert not pauses.holds_back(SessionId(uuid4()), told(30))
    pauses.forget(SESSION)
    assert not pauses.holds_back(SESSION, told(33))


def test_turns_that_the_tutor_is_not_shown_do_not_count() -> None:
    pauses = NotePauses()
    pauses.begin(SESSION, told(30))
    lost = [turn(number) if number <= 32 else failed(turn(number)) for number in range(1, 41)]
    assert pauses.holds_back(SESSION, history([], lost))


def test_a_bounded_number_of_sessions_is_remembered_the_latest_ones() -> None:
    pauses, known = NotePauses(), told(30)
    sessions = [SessionId(uuid4()) for _ in range(4097)]
    for session in sessions[:4096]:
        pauses.begin(session, known)
    pauses.begin(sessions[0], known)
    pauses.begin(sessions[4096], known)
    assert [session for session in sessions if not pauses.holds_back(session, known)] == [sessions[1]]
