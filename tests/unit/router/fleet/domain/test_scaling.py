"""What is done with a pool, at one moment and until nothing is left to do."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import ReplicaId
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.pool_view import PoolView, ReplicaSeen, ranked
from router.fleet.domain.replica_lifecycle import ReplicaState
from router.fleet.domain.scaling import Action, Alert, Decision, Move, Wait, decide
from router.fleet.domain.steps import Block, Steps, summed

RULES = PoolRules(seats_per_replica=10, maximum=8, starts_at_once=3)
NOW = 100_000.0
BELL = NOW + 1200.0
CLASS = summed([Block(BELL, BELL + 3600.0, 20)])
NOBODY = Steps()
START_S = 90.0
MEASURED = (PastStart(0.0, START_S / RULES.safety, went_warm=True),) * 5
WANTED, STARTING, READY = ReplicaState.WANTED, ReplicaState.STARTING, ReplicaState.READY
DRAINING, FAILED = ReplicaState.DRAINING, ReplicaState.FAILED


def seen(
    name: str,
    state: ReplicaState,
    sessions: int | None = 0,
    *,
    since: float = NOW,
    ordered: float = NOW,
    may_stop: bool = False,
) -> ReplicaSeen:
    return ReplicaSeen(ReplicaId(name), state, since=since, ordered=ordered, sessions=sessions, may_stop=may_stop)


def view(
    *replicas: ReplicaSeen, seats: Steps | None = CLASS, strays: int | None = 0, starts: tuple[PastStart, ...] = ()
) -> PoolView:
    return PoolView(replicas=replicas, seats=seats, strays=strays, starts=starts)


def told(pool: PoolView, rules: PoolRules = RULES, *, now: float = NOW) -> Decision:
    return decide(pool, rules, now=now)


def moves(decision: Decision) -> list[tuple[str, str | None]]:
    return [(action.move.value, action.replica) for action in decision.actions]


# ------------------------------------------------------------------ starts


def test_a_drain_that_an_operator_ordered_is_not_taken_back() -> None:
    his = replace(seen("a", DRAINING, 4), may_return=False)
    decision = told(view(his, seen("b", DRAINING, 1)), now=BELL - 60.0)
    assert moves(decision) == [("keep", "b"), ("start", None)]


def test_replicas_are_started_once_the_bell_is_within_the_lead() -> None:
    assert told(view(), now=BELL - 1801.0) == Decision(wanted=0)
    decision = told(view(), now=BELL - 1800.0)
    assert decision.wanted == 2
    assert decision.actions == (Action(Move.START, "2 are wanted, 0 are there"),) * 2
    assert decision.wait is None


def test_what_is_on_its_way_is_not_started_twice() -> None:
    assert moves(told(view(seen("a", WANTED)))) == [("start", None)]
    assert told(view(seen("a", STARTING), seen("b", READY))) == Decision(wanted=2)


def test_a_drain_is_taken_back_before_a_start_and_the_fullest_first() -> None:
    pool = view(seen("a", DRAINING, 1), seen("b", DRAINING, 4), seen("c", DRAINING, 0, may_stop=True))
    assert moves(told(pool)) == [("keep", "b"), ("keep", "a")]
    assert moves(told(view(seen("a", DRAINING, None)))) == [("keep", "a"), ("start", None)]


def test_no_more_starts_at_once_than_the_backend_carries() -> None:
    crowd = summed([Block(BELL, BELL + 3600.0, 60)])
    decision = told(view(seen("a", STARTING), seats=crowd))
    assert (moves(decision), decision.wait) == ([("start", None)] * 2, Wait.STARTS_FULL)


def test_the_pool_never_has_more_than_it_may() -> None:
    crowd = summed([Block(BELL, BELL + 3600.0, 400)])
    running = [seen(name, READY) for name in "abcdefg"]
    decision = told(view(*running, seats=crowd))
    assert (decision.wanted, moves(decision)) == (8, [("start", None)])
    draining = [seen(name, DRAINING, 2) for name in "hi"]
    packed = told(view(*running[:5], *draining, seats=crowd))
    assert (moves(packed), packed.wait) == ([("keep", "h"), ("keep", "i"), ("start", None)], None)
    over = told(view(*[seen(name, READY, 15) for name in "abcdefgh"], seats=crowd))
    assert (over.wanted, moves(over), over.wait) == (12, [], Wait.POOL_FULL)


def test_a_failed_start_is_cleared_away_and_replaced_after_a_pause() -> None:
    failure = PastStart(NOW - 60.0, NOW, went_warm=False)
    pool = view(seen("a", FAILED), seen("b", READY), starts=(failure,))
    decision = told(pool)
    assert decision.actions == (Action(Move.STOP, "it failed", ReplicaId("a")),)
    assert decision.wait is Wait.BACK_OFF
    later = told(pool, now=NOW + RULES.retry_s)
    assert (moves(later), later.wait) == ([("stop", "a"), ("start", None)], None)


def test_nobody_waits_for_a_failure_that_is_still_to_come() -> None:
    """The clock was put back by an hour after it."""
    ahead = PastStart(NOW + 3540.0, NOW + 3600.0, went_warm=False)
    decision = told(view(seen("b", READY), starts=(ahead,)))
    assert (moves(decision), decision.wait) == ([("start", None)], None)


def test_a_start_that_hangs_is_given_up_and_replaced() -> None:
    decision = told(view(seen("a", STARTING, since=NOW - 661.0), seen("b", READY)))
    assert [(action.move, action.reason) for action in decision.actions] == [
        (Move.STOP, "it did not answer in time"),
        (Move.START, "2 are wanted, 1 are there"),
    ]


def test_beside_a_start_that_takes_too_long_another_one_is_begun() -> None:
    slow = seen("a", STARTING, ordered=NOW - START_S - 1.0)
    pool = view(slow, seen("b", READY), starts=MEASURED)
    assert moves(told(pool)) == [("start", None)]
    assert told(pool, now=NOW - 1.0).actions == ()
    # the slow one may win the race, and goes when it has lost it
    replaced = view(slow, seen("b", READY), seen("c", STARTING), starts=MEASURED)
    assert told(replaced) == Decision(wanted=2)
    lost = told(view(slow, seen("b", READY), seen("c", READY), starts=MEASURED))
    assert lost.actions == (Action(Move.STOP, "another one came before it", ReplicaId("a")),)


def test_slow_starts_hold_their_places_so_that_they_are_never_doubled_without_end() -> None:
    slow = [seen(name, STARTING, ordered=NOW - START_S - 1.0) for name in "abc"]
    decision = told(view(*slow, starts=MEASURED))
    assert (moves(decision), decision.wait) == ([], Wait.STARTS_FULL)
    full = told(view(*slow[:2], starts=MEASURED), replace(RULES, maximum=2))
    assert (moves(full), full.wait) == ([], Wait.POOL_FULL)


def test_before_anything_was_measured_no_start_is_too_slow() -> None:
    slow = [seen(name, STARTING, ordered=NOW - 600.0) for name in "ab"]
    assert told(view(*slow)) == Decision(wanted=2)


# ------------------------------------------------------------------ scale-in


def test_after_the_end_replicas_go_one_at_a_time_the_emptiest_first() -> None:
    decision = told(view(seen("a", READY, 2), seen("b", READY, 1), seats=NOBODY, strays=3))
    assert decision.actions == (Action(Move.DRAIN, "1 are wanted, 2 are there", ReplicaId("b")),)
    waiting = told(view(seen("a", READY, 0), seen("b", READY, 0), seen("c", DRAINING, 0), seats=NOBODY))
    assert (moves(waiting), waiting.wait) == ([], Wait.DRAINING)


def test_a_drained_replica_is_stopped_and_the_next_one_follows() -> None:
    pool = view(seen("a", READY), seen("b", READY), seen("c", DRAINING, may_stop=True), seats=NOBODY)
    assert moves(told(pool)) == [("stop", "c"), ("drain", "a")]
    assert moves(told(view(seen("c", DRAINING, may_stop=True), seats=NOBODY))) == [("stop", "c")]


def test_sessions_past_their_end_keep_the_replicas_that_they_need() -> None:
    pool = view(seen("a", READY, 8), seen("b", READY, 5), seats=NOBODY, strays=13)
    assert told(pool) == Decision(wanted=2)
    # also where the gateway does not count them as strays
    assert told(replace(pool, strays=0)) == Decision(wanted=2)


def test_who_sits_on_when_the_next_bell_is_near_has_a_seat_of_her_own() -> None:
    pool = view(seen("a", READY, 3), seen("b", READY, 0), strays=3)
    assert told(pool, now=BELL - 541.0).actions == ()
    assert moves(told(pool, now=BELL - 539.0)) == [("start", None)]


def test_where_sessions_may_not_be_moved_their_replicas_stay() -> None:
    rules = replace(RULES, moves_sessions=False)
    pool = view(seen("a", READY, 1), seen("b", READY, 1), seats=NOBODY, strays=2)
    assert (moves(told(pool, rules)), told(pool, rules).wait) == ([], Wait.SESSIONS_RUN)
    assert moves(told(pool, RULES)) == [("drain", "a")]
    assert moves(told(view(seen("a", READY, 1), seen("b", READY, 0), seats=NOBODY, strays=1), rules)) == [
        ("drain", "b")
    ]


def test_a_cancelled_class_takes_back_what_is_on_its_way() -> None:
    pool = view(seen("a", READY, 5), seen("b", STARTING), seen("c", WANTED), seats=NOBODY, strays=5)
    assert told(pool).actions == (Action(Move.STOP, "1 are wanted, 3 are there", ReplicaId("c")),)


def test_the_minimum_stays() -> None:
    rules = replace(RULES, minimum=1)
    assert told(view(seen("a", READY), seats=NOBODY), rules) == Decision(wanted=1)


# ------------------------------------------------------------------ what is not known


def test_without_a_list_of_replicas_nothing_is_done() -> None:
    assert told(PoolView(replicas=None, seats=CLASS)) == Decision(wanted=None, wait=Wait.FLEET_UNKNOWN)


def test_without_a_calendar_what_runs_is_kept_up_and_nothing_goes() -> None:
    pool = view(seen("a", READY, 4), seen("b", READY), seen("c", DRAINING, may_stop=True), seats=None)
    assert told(pool) == Decision(wanted=None, wait=Wait.CALENDAR_UNKNOWN)
    crashed = view(seen("a", FAILED), seen("b", READY, 15), seats=None)
    assert moves(told(crashed)) == [("stop", "a"), ("start", None)]
    assert told(crashed).wait is Wait.CALENDAR_UNKNOWN
    assert moves(told(view(seats=None), replace(RULES, minimum=1))) == [("start", None)]


@pytest.mark.parametrize(
    "pool",
    [
        view(seen("a", READY, None), seen("b", READY, 0), seats=NOBODY),
        view(seen("a", READY, 0), seen("b", DRAINING, None), seats=NOBODY),
        view(seen("a", READY, 0), seats=NOBODY, strays=None),
        view(seen("a", READY, 0), seen("b", STARTING), seats=NOBODY, strays=None),
        view(seen("a", READY, None), seen("b", STARTING, ordered=0.0), seats=NOBODY, starts=MEASURED),
    ],
)
def test_nothing_is_let_go_while_sessions_are_not_known(pool: PoolView) -> None:
    assert (moves(told(pool)), told(pool).wait) == ([], Wait.SESSIONS_UNKNOWN)


def test_unknown_sessions_hold_up_no_start() -> None:
    assert moves(told(view(seen("a", READY, None), strays=None))) == [("start", None)]


# ------------------------------------------------------------------ alert


def test_ten_minutes_before_a_bell_somebody_is_told_what_is_missing() -> None:
    pool = view(seen("a", READY), seen("b", STARTING))
    assert told(pool, now=BELL - 600.0).alert is None
    alert = told(pool, now=BELL - 599.0).alert
    assert alert == Alert(bell=BELL, ready=1, needed=2)
    assert str(alert) == "1 of 2 replicas are ready"
    assert told(view(seen("a", READY), seen("b", READY)), now=BELL - 599.0).alert is None


def test_an_alert_stands_while_the_class_runs() -> None:
    assert told(view(seen("a", READY)), now=BELL + 60.0).alert == Alert(bell=BELL, ready=1, needed=2)


def test_a_missing_reserve_alarms_nobody_and_a_pool_that_is_too_small_does() -> None:
    ready = view(seen("a", READY), seen("b", READY))
    assert told(ready, replace(RULES, reserve=1), now=BELL - 60.0).alert is None
    small = replace(RULES, maximum=1)
    assert told(view(seen("a", READY)), small, now=BELL - 60.0).alert == Alert(BELL, ready=1, needed=2)


# ------------------------------------------------------------------ properties

STATES = list(ReplicaState)
REPLICAS = st.lists(
    st.builds(
        lambda state, sessions, ago, may_stop: (state, sessions, NOW - ago, may_stop),
        st.sampled_from(STATES),
        st.one_of(st.none(), st.integers(0, 10)),
        st.sampled_from([0.0, 100.0, 900.0]),
        st.booleans(),
    ),
    max_size=10,
).map(lambda drawn: tuple(seen(f"r{n}", s, k, since=t, ordered=t, may_stop=m) for n, (s, k, t, m) in enumerate(drawn)))
SEATS = st.lists(
    st.builds(
        lambda begins, length, count: Block(NOW + begins * 60.0, NOW + (begins + length) * 60.0, count),
        st.integers(-60, 60),
        st.integers(1, 90),
        st.integers(1, 40),
    ),
    max_size=4,
).map(summed)
STRAYS = st.one_of(st.none(), st.integers(0, 20))
VIEWS = st.builds(
    PoolView, replicas=REPLICAS, seats=st.one_of(st.none(), SEATS), strays=STRAYS, starts=st.just(MEASURED)
)


def carried_out(pool: PoolView, decision: Decision, rounds: int) -> PoolView:
    """The pool once all that was decided has come about."""
    replicas = {replica.id: replica for replica in pool.replicas or ()}
    for n, action in enumerate(decision.actions):
        if action.replica is None:
            name = ReplicaId(f"new-{rounds}-{n}")
            replicas[name] = seen(name, READY)
        elif action.move is Move.STOP:
            del replicas[action.replica]
        else:
            keeps = action.move is Move.KEEP
            old = replicas[action.replica]
            replicas[old.id] = replace(old, state=READY if keeps else DRAINING, sessions=old.sessions if keeps else 0)
            replicas[old.id] = replace(replicas[old.id], may_stop=not keeps)
    return replace(pool, replicas=tuple(replicas.values()))


@given(VIEWS)
def test_one_question_has_one_answer(pool: PoolView) -> None:
    backwards = replace(pool, replicas=(pool.replicas or ())[::-1])
    assert told(pool) == told(pool) == told(backwards)


@given(VIEWS)
def test_a_decision_never_starts_and_drains_at_once(pool: PoolView) -> None:
    kinds = {action.move for action in told(pool).actions}
    assert not (Move.DRAIN in kinds and kinds & {Move.START, Move.KEEP})
    assert [action.move for action in told(pool).actions].count(Move.DRAIN) <= 1


@given(VIEWS)
def test_no_action_takes_what_running_sessions_need(pool: PoolView) -> None:
    decision = told(pool)
    ranks = ranked(pool.replicas or (), now=NOW, start_s=START_S)
    drained = [action for action in decision.actions if action.move is Move.DRAIN]
    if drained:
        assert ranks.sessions is not None
        assert (len(ranks.ready) - 1) * RULES.seats_per_replica >= ranks.sessions
    stopped = {action.replica for action in decision.actions if action.move is Move.STOP}
    assert not stopped & {replica.id for replica in ranks.ready}
    assert not stopped & {replica.id for replica in ranks.draining if not replica.may_stop}


@given(VIEWS)
def test_what_is_not_known_makes_no_pool_smaller(pool: PoolView) -> None:
    lost = {replica.id for replica, _ in ranked(pool.replicas or (), now=NOW, start_s=START_S).lost}
    for blind in (replace(pool, seats=None), replace(pool, replicas=None)):
        assert all(action.move in {Move.START, Move.KEEP} or action.replica in lost for action in told(blind).actions)
    blind = replace(pool, strays=None)
    drained = {replica.id for replica in pool.replicas or () if replica.may_stop}
    assert all(
        action.move in {Move.START, Move.KEEP} or action.replica in lost | drained for action in told(blind).actions
    )


@given(REPLICAS, SEATS, st.integers(0, 20))
def test_a_pool_comes_to_rest_where_it_is_wanted(replicas: tuple[ReplicaSeen, ...], seats: Steps, strays: int) -> None:
    """Each round gets what the one before it decided; it never turns round on the way."""
    known = tuple(replace(replica, sessions=replica.sessions or 0) for replica in replicas)
    pool = PoolView(replicas=known, seats=seats, strays=strays, starts=MEASURED)
    went = set[Move]()
    decision = told(pool)
    for rounds in range(40):
        went |= {action.move for action in decision.actions} - {Move.STOP}
        if not decision.actions:
            break
        pool = carried_out(pool, decision, rounds)
        decision = told(pool)
    ranks = ranked(pool.replicas or (), now=NOW, start_s=START_S)
    assert decision.actions == ()
    assert not (Move.START in went and Move.DRAIN in went)
    assert decision.wait is not None or ranks.present == decision.wanted
    assert decision.wait in {None, Wait.DRAINING, Wait.POOL_FULL, Wait.STARTS_FULL}


@given(REPLICAS, SEATS, SEATS, st.integers(0, 20))
def test_more_seats_never_want_fewer_replicas(
    replicas: tuple[ReplicaSeen, ...], seats: Steps, others: Steps, strays: int
) -> None:
    less = told(PoolView(replicas=replicas, seats=seats, strays=strays, starts=MEASURED)).wanted
    more = told(
        PoolView(replicas=replicas, seats=summed([*seats.blocks(), *others.blocks()]), strays=strays, starts=MEASURED)
    ).wanted
    assert less is not None
    assert more is not None
    assert more >= less
