from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.limit_book import Limit, LimitBook, account_of
from gateway.domain.limits import AccountLimits, DrillLimits, Spent
from tests.support.limit_claims import DRILL, SECOND_US, TENANT, request_of, seat_of, turn_of

LEASE, SEAT = 30 * SECOND_US, 600 * SECOND_US
NOW = 1_795_000_000 * SECOND_US
SESSION = UUID(int=9)


@pytest.fixture
def book() -> LimitBook:
    return LimitBook(lease_us=LEASE, seat_us=SEAT)


def test_a_turn_takes_all_its_places_and_gives_all_of_them_back(book: LimitBook) -> None:
    claim = turn_of(SESSION, AccountLimits(requests_per_minute=60), drill=DRILL, drill_limits=DrillLimits(seats=1))
    assert book.admit("me", claim, NOW).backlogs == (SECOND_US,)
    assert book.running[account_of(claim)] == book.drills[str(DRILL)] == {"me": NOW + LEASE}
    assert book.turns[str(SESSION)] == ("me", NOW + LEASE)
    assert book.seats[str(DRILL)] == book.tenants[str(TENANT)] == {str(SESSION): NOW + SEAT}
    assert book.settle("me", claim, None, NOW)
    assert not any((*book.running.values(), *book.drills.values(), *book.seats.values(), *book.tenants.values()))
    assert not book.turns
    assert book.rates[account_of(claim)] == {"requests": NOW}


def test_what_is_settled_keeps_its_seat_and_its_request(book: LimitBook) -> None:
    claim = turn_of(SESSION, AccountLimits(requests_per_minute=60), drill=DRILL)
    book.admit("me", claim, NOW)
    assert book.settle("me", claim, Spent(0, 0), NOW)
    assert str(SESSION) in book.seats[str(DRILL)]
    assert book.rates[account_of(claim)] == {"requests": NOW + SECOND_US}


def test_a_claim_is_taken_once_and_settled_once(book: LimitBook) -> None:
    claim = request_of(AccountLimits(requests_per_minute=60, turns_in_flight=1))
    for _ in range(2):
        assert book.admit("me", claim, NOW).refused_by is None
    assert book.rates[account_of(claim)] == {"requests": NOW + SECOND_US}
    assert [book.settle("me", claim, None, NOW) for _ in range(2)] == [True, False]
    assert book.admit("me", claim, NOW).refused_by is Limit.OVER
    book.forget("me")
    assert not book.settle("me", claim, None, NOW)
    assert book.admit("me", claim, NOW).refused_by is Limit.OVER


def test_the_longest_wait_is_told(book: LimitBook) -> None:
    limits = AccountLimits(requests_per_minute=60, request_burst=1, output_tokens_per_minute=60)
    book.admit("one", request_of(limits, tokens=(0, 30)), NOW)
    assert book.admit("two", request_of(limits, tokens=(0, 60)), NOW).refused_by is Limit.OUTPUT_TOKENS
    few = book.admit("three", request_of(limits, tokens=(0, 1)), NOW)
    assert (few.refused_by, few.wait_us) == (Limit.REQUESTS, SECOND_US)


def test_a_dead_holder_is_waited_for_no_longer_than_its_lease(book: LimitBook) -> None:
    claim = turn_of(SESSION, AccountLimits(turns_in_flight=1), drill=DRILL)
    book.admit("dead", claim, NOW)
    last = NOW + LEASE - 1
    assert book.admit("me", claim, last).refused_by is Limit.SESSION
    other = book.admit("me", turn_of(None, AccountLimits(turns_in_flight=1)), last)
    assert (other.refused_by, other.wait_us) == (Limit.TURNS_IN_FLIGHT, 1)
    assert book.admit("me", claim, NOW + LEASE).refused_by is None
    assert not book.renew("dead", claim, NOW + LEASE)
    assert book.settle("dead", claim, None, NOW + LEASE)
    assert book.turns[str(SESSION)][0] == "me"


def test_a_living_holder_keeps_everything_by_renewing(book: LimitBook) -> None:
    claim = turn_of(SESSION, drill=DRILL)
    book.admit("me", claim, NOW)
    for third in range(1, 10):
        assert book.renew("me", claim, NOW + third * LEASE // 3)
    assert book.admit("other", claim, NOW + 3 * LEASE).refused_by is Limit.SESSION
    plain = request_of()
    book.admit("plain", plain, NOW)
    assert book.renew("plain", plain, NOW + 1)


def test_a_lost_turn_lease_is_not_taken_back(book: LimitBook) -> None:
    claim = turn_of(SESSION)
    book.admit("me", claim, NOW)
    del book.turns[str(SESSION)]
    assert not book.renew("me", claim, NOW + 1)
    assert not book.turns


def test_seats_belong_to_sessions_and_walk_ins_come_beyond_them(book: LimitBook) -> None:
    drill = DrillLimits(seats=1, walk_ins=1)
    one, two = uuid4(), uuid4()
    for session in (one, two, one, two):
        assert book.seat(seat_of(session, drill_limits=drill), NOW).refused_by is None
    assert (list(book.seats[str(DRILL)]), list(book.walk_ins[str(DRILL)])) == ([str(one)], [str(two)])
    assert book.seat(seat_of(drill_limits=drill), NOW).refused_by is Limit.SEATS
    book.unseat(TENANT, DRILL, one)
    assert book.seat(seat_of(drill_limits=drill), NOW).refused_by is None
    assert book.seat(seat_of(drill_limits=drill), NOW + SEAT).refused_by is None


def test_a_tenants_sessions_count_in_drills_and_on_their_own(book: LimitBook) -> None:
    session = uuid4()
    assert book.seat(seat_of(session, sessions=1), NOW).refused_by is None
    assert book.seat(seat_of(session, sessions=1), NOW).refused_by is None
    assert book.seat(seat_of(sessions=1), NOW).refused_by is Limit.TENANT
    alone = replace(seat_of(sessions=2), drill=None)
    assert book.seat(alone, NOW).refused_by is None
    assert list(book.seats[str(DRILL)]) == [str(session)]
    for one in (session, alone.session):
        book.unseat(TENANT, None, one)
    assert not book.tenants[str(TENANT)]


def test_the_turns_of_seated_sessions_count_at_the_watermark_and_are_never_refused(book: LimitBook) -> None:
    drill = DrillLimits(seats=2, walk_ins=1, turns_in_flight=1)
    one, two, walk_in = uuid4(), uuid4(), uuid4()
    for session in (one, two, walk_in):
        book.seat(seat_of(session, drill_limits=drill), NOW)
    for session in (one, two):
        claim = turn_of(session, drill=DRILL, drill_limits=drill)
        assert book.admit(str(session), claim, NOW).refused_by is None
    refused = book.admit("three", turn_of(walk_in, drill=DRILL, drill_limits=drill), NOW + 1)
    assert (refused.refused_by, refused.wait_us) == (Limit.WATERMARK, LEASE - 1)
    assert book.admit("four", turn_of(None, drill=DRILL, drill_limits=drill), NOW).refused_by is Limit.WATERMARK


def test_work_without_a_session_is_no_seated_turn(book: LimitBook) -> None:
    drill = DrillLimits(turns_in_flight=1)
    claim = turn_of(drill=DRILL, drill_limits=drill)
    book.admit("one", claim, NOW)
    no_session = type(claim)(TENANT, claim.account, claim.limits, drill=DRILL, drill_limits=drill)
    assert book.admit("two", no_session, NOW).refused_by is Limit.WATERMARK


def test_a_turn_takes_a_lost_seat_again_when_there_is_one(book: LimitBook) -> None:
    drill = DrillLimits(seats=1, walk_ins=0, turns_in_flight=1)
    for session, sits in ((uuid4(), True), (uuid4(), False)):
        claim = turn_of(session, drill=DRILL, drill_limits=DrillLimits(drill.seats, drill.walk_ins))
        book.admit(str(session), claim, NOW)
        book.settle(str(session), claim, Spent(0, 0), NOW)
        assert (str(session) in book.seats[str(DRILL)]) is sits


def test_a_turn_renews_its_seat_and_its_end_does_not_take_it_away(book: LimitBook) -> None:
    session, drill = uuid4(), DrillLimits(seats=1)
    book.seat(seat_of(session, drill_limits=drill), NOW)
    claim = turn_of(session, drill=DRILL, drill_limits=drill)
    book.admit("me", claim, NOW + SEAT - 1)
    book.settle("me", claim, None, NOW + SEAT)
    assert book.seat(seat_of(drill_limits=drill), NOW + SEAT + 1).refused_by is Limit.SEATS


def test_what_says_nothing_any_more_is_forgotten(book: LimitBook) -> None:
    claim = turn_of(SESSION, AccountLimits(requests_per_minute=60), drill=DRILL)
    book.admit("me", claim, NOW)
    book.forget_idle(NOW)
    assert book.rates
    assert book.running
    book.settle("me", claim, Spent(0, 0), NOW)
    book.forget_idle(NOW + SEAT)
    assert not any((book.rates, book.running, book.drills, book.seats, book.tenants))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(0, LEASE)), max_size=60), st.integers(0, 4))
def test_never_more_in_flight_than_may(steps: list[tuple[int, bool, int]], most: int) -> None:
    """Whoever dies, leaves late or asks twice: the living are never more than the limit."""
    book, now = LimitBook(lease_us=LEASE, seat_us=SEAT), NOW
    claim, inside = request_of(AccountLimits(turns_in_flight=most)), dict[str, int]()
    for number, (who, comes, by_us) in enumerate(steps):
        now += by_us
        inside = {holder: until for holder, until in inside.items() if until > now}
        if comes:
            verdict = book.admit(f"{number}", claim, now)
            assert (verdict.refused_by is None) == (len(inside) < most)
            if verdict.refused_by is None:
                inside[f"{number}"] = now + LEASE
        elif who < len(inside):
            leaving = list(inside)[who]
            del inside[leaving]
            assert book.settle(leaving, claim, None, now)
