"""Where a turn goes, by pin and fleet; and which of the candidates takes a session."""

from collections import Counter, defaultdict
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import AffinityKey, Fleet, Health, Replica, ReplicaId
from router.domain.pin import Demand, Pin, PinMode, PinnedLoad
from router.domain.placement import (
    Aside,
    Assign,
    Keep,
    Placement,
    Refuse,
    Wait,
    Why,
    choose,
    for_background,
    place,
    without_pins,
)
from router.domain.rendezvous import favourite, start_of
from router.settings import RouterSettings

KEY = AffinityKey("m\nsession-1")
BOUND = RouterSettings().cohort_bound
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")
SERVES = frozenset({"m"})
UP, DOWN, REFUSED = Health.READY, Health.DOWN, Health.REFUSED


def fleet(*draining: ReplicaId, **health: Health) -> Fleet:
    return Fleet(
        tuple(
            Replica(ReplicaId(name), f"http://{name}", state, models=SERVES, is_draining=name in draining)
            for name, state in health.items()
        )
    )


def placed(
    seen: Fleet,
    pin: Pin | None,
    *,
    blocked: Collection[ReplicaId] = (),
    full: Collection[ReplicaId] = (),
    mode: PinMode = PinMode.SOFT,
) -> Placement:
    return place(seen, "m", pin, blocked=blocked, full=full, mode=mode)


@pytest.mark.parametrize("health", [Health.READY, Health.PROVING, Health.UNKNOWN])
@pytest.mark.parametrize("mode", PinMode)
def test_a_pin_whose_replica_may_live_is_kept(health: Health, mode: PinMode) -> None:
    seen = fleet(a=health, b=UP)
    assert placed(seen, Pin(A, 3), mode=mode) == Keep(seen.replicas[0])


def test_a_pin_to_a_draining_replica_is_kept_for_it_is_warm() -> None:
    seen = fleet(A, a=UP, b=UP)
    assert placed(seen, Pin(A, 3)) == Keep(seen.replicas[0])


def test_a_pin_to_a_replica_that_was_not_asked_yet_what_it_serves_is_kept() -> None:
    seen = Fleet((Replica(A, "http://a"), Replica(B, "http://b", UP, models=SERVES)))
    assert placed(seen, Pin(A, 1)) == Keep(seen.replicas[0])


@pytest.mark.parametrize(("health", "why"), [(DOWN, Why.DOWN), (REFUSED, Why.REFUSED)])
def test_a_pin_whose_replica_must_not_serve_is_replaced(health: Health, why: Why) -> None:
    assert placed(fleet(a=health, b=UP), Pin(A, 3)) == Assign((B,), Pin(A, 3), why)


def test_a_pin_whose_replica_left_the_fleet_is_replaced() -> None:
    assert placed(fleet(b=UP), Pin(A, 1)) == Assign((B,), Pin(A, 1), Why.GONE)


def test_a_pin_whose_replica_serves_another_model_now_is_replaced() -> None:
    other = Replica(A, "http://a", UP, models=frozenset({"other"}))
    seen = Fleet((other, Replica(B, "http://b", UP, models=SERVES)))
    assert placed(seen, Pin(A, 1)) == Assign((B,), Pin(A, 1), Why.GONE)


@pytest.mark.parametrize("mode", PinMode)
def test_a_pin_to_a_blocked_replica_is_replaced(mode: PinMode) -> None:
    assert placed(fleet(a=UP, b=UP), Pin(A, 1), blocked={A}, mode=mode) == Assign((B,), Pin(A, 1), Why.BLOCKED)


def test_a_soft_pin_gives_way_when_its_replica_is_full() -> None:
    assert placed(fleet(a=UP, b=UP, c=UP), Pin(A, 1), full={A}) == Assign((B, C), Pin(A, 1), Why.FULL)


@pytest.mark.parametrize(
    ("blocked", "full"), [((), (A, B)), ((B,), (A,)), ((B,), (A, B))], ids=["full", "blocked", "both"]
)
def test_a_soft_pin_waits_when_there_is_no_room_elsewhere(
    blocked: tuple[ReplicaId, ...], full: tuple[ReplicaId, ...]
) -> None:
    assert placed(fleet(a=UP, b=UP), Pin(A, 1), blocked=blocked, full=full) == Wait(Why.ALL_FULL)


def test_a_hard_pin_waits_for_its_replica_also_when_another_has_room() -> None:
    assert placed(fleet(a=UP, b=UP), Pin(A, 1), full={A}, mode=PinMode.HARD) == Wait(Why.FULL)


def test_a_new_session_goes_to_open_replicas_of_its_model_with_room() -> None:
    seen = fleet(C, a=UP, b=UP, c=UP, d=Health.PROVING, e=UP, f=UP)
    assert placed(seen, None) == Assign(seen.open_to("m"), None, Why.NEW)
    assert placed(seen, None, blocked={B}, full={ReplicaId("e")}) == Assign((A, ReplicaId("f")), None, Why.NEW)
    assert place(seen, "other", None, blocked=(), full=(), mode=PinMode.SOFT) == Refuse(Why.NONE_OPEN)


def test_a_new_session_waits_when_all_are_full() -> None:
    assert placed(fleet(a=UP, b=UP), None, blocked={B}, full={A}) == Wait(Why.ALL_FULL)


@pytest.mark.parametrize("pin", [None, Pin(A, 1)])
def test_no_open_replica_is_a_refusal(pin: Pin | None) -> None:
    assert placed(fleet(C, a=DOWN, b=Health.UNKNOWN, c=UP), pin) == Refuse(Why.NONE_OPEN)
    assert placed(fleet(a=UP, b=UP), pin, blocked={A, B}) == Refuse(Why.ALL_BLOCKED)


def test_one_more_replica_moves_nobody() -> None:
    assert placed(fleet(a=UP), Pin(A, 1)) == placed(fleet(a=UP, b=UP), Pin(A, 1))


@pytest.mark.parametrize("last", [A, B, C])
def test_without_pins_a_session_returns_to_its_last_replica(last: ReplicaId) -> None:
    seen = fleet(C, a=UP, b=Health.PROVING, c=UP)
    assert without_pins(KEY, seen, "m", prefer=last, blocked=()) == seen.get(last)


@pytest.mark.parametrize("prefer", [None, C, ReplicaId("unheard of")])
def test_without_pins_and_a_living_last_replica_rendezvous_decides(prefer: ReplicaId | None) -> None:
    seen = fleet(a=UP, b=UP, c=DOWN)
    assert without_pins(KEY, seen, "m", prefer=prefer, blocked=()) == seen.get(favourite(KEY, (A, B)))


@pytest.mark.parametrize(("gone", "left"), [(A, B), (B, A)])
def test_without_pins_a_blocked_replica_is_not_asked(gone: ReplicaId, left: ReplicaId) -> None:
    seen = fleet(a=UP, b=UP)
    assert without_pins(KEY, seen, "m", prefer=gone, blocked={gone}) == seen.get(left)


def test_without_pins_nothing_open_is_nowhere_to_go() -> None:
    assert without_pins(KEY, fleet(a=REFUSED), "m", prefer=A, blocked=()) is None
    assert without_pins(KEY, fleet(a=UP), "m", prefer=None, blocked={A}) is None


PIN = Pin(A, 1)


@pytest.mark.parametrize(
    ("found", "becomes"),
    [
        (Assign((A, B), None, Why.NEW), Aside()),
        (Assign((B,), PIN, Why.BLOCKED), Aside()),
        (Assign((B,), PIN, Why.GONE), None),
        (Assign((B,), PIN, Why.DOWN), None),
        (Wait(Why.FULL), None),
        (Refuse(Why.NONE_OPEN), None),
    ],
    ids=repr,
)
def test_a_background_call_moves_a_session_only_from_what_is_gone(found: Placement, becomes: Aside | None) -> None:
    assert for_background(found) == (becomes or found)


def chosen(
    loads: dict[ReplicaId, PinnedLoad], *, holders: Collection[ReplicaId] = (), demand: int = 10, start: int = 0
) -> ReplicaId:
    return choose([A, B, C], loads, demand=Demand(demand, "scenario"), holders=holders, bound=1.1, start=start)


def load(kv_tokens: int, sessions: int = 1) -> PinnedLoad:
    return PinnedLoad(sessions, kv_tokens)


def test_the_least_expected_kv_is_chosen_then_the_fewest_sessions() -> None:
    assert chosen({A: load(50, 1), B: load(40, 9), C: load(60, 1)}) == B
    assert chosen({A: load(50, 3), B: load(50, 2), C: load(50, 4)}) == B
    assert chosen({A: load(1), B: load(1)}) == C


@pytest.mark.parametrize(("start", "first"), [(0, A), (1, B), (2, C), (3, A), (4_000_000_001, C)])
def test_equals_are_tried_in_turn_from_the_start(start: int, first: ReplicaId) -> None:
    assert chosen({}, start=start) == first


def test_a_holder_is_preferred_inside_the_bound_only() -> None:
    assert chosen({A: load(104), B: load(100), C: load(100)}, holders={A}) == A
    assert chosen({A: load(18), B: load(10), C: load(10)}, holders={A}) == B


def test_a_holder_is_preferred_near_the_emptiest_only() -> None:
    assert chosen({A: load(110), B: load(100), C: load(118)}, holders={A}) == A
    assert chosen({A: load(112), B: load(100), C: load(118)}, holders={A}) == B


def test_the_least_loaded_holder_is_preferred() -> None:
    assert chosen({A: load(104), B: load(102), C: load(100)}, holders={A, B}) == B


def test_while_there_is_little_a_holder_may_have_one_session_more() -> None:
    assert chosen({A: load(20), B: load(20), C: load(0, 0)}, holders={A, B}) == C
    assert choose([A, B], {A: load(10)}, demand=Demand(10, "c"), holders={A}, bound=1.1, start=0) == A
    assert choose([A, B], {A: load(20)}, demand=Demand(10, "c"), holders={A}, bound=1.1, start=0) == B


@given(st.dictionaries(st.sampled_from([A, B, C]), st.integers(0, 5).map(load), min_size=1), st.integers(0, 2**32))
def test_no_candidate_has_less_than_the_chosen(loads: dict[ReplicaId, PinnedLoad], start: int) -> None:
    names = list(loads)
    winner = choose(names, loads, demand=Demand(), holders=(), bound=1.1, start=start)
    assert loads[winner].kv_tokens == min(seen.kv_tokens for seen in loads.values())


class Pool:
    """Replicas on which sessions of some cohorts are placed as the pin stores do it, with the default bound."""

    def __init__(self, replicas: int, *, cohorts: int) -> None:
        self.names = [ReplicaId(f"replica-{number}") for number in range(replicas)]
        self.sessions: Counter[ReplicaId] = Counter()
        self._cohorts = cohorts
        self._holders: defaultdict[int, set[ReplicaId]] = defaultdict(set)

    def arrive(self, numbers: range) -> None:
        for number in numbers:
            cohort = number * 7919 % self._cohorts if self._cohorts else -1
            held = self._holders[cohort] if self._cohorts else set()
            loads = {each: PinnedLoad(count, 2_000 * count) for each, count in self.sessions.items()}
            demand, start = Demand(2_000, str(cohort)), start_of(AffinityKey(f"m\nsession-{number}"))
            winner = choose(self.names, loads, demand=demand, holders=held, bound=BOUND, start=start)
            self.sessions[winner] += 1
            held.add(winner)

    def evenness(self) -> float:
        return max(self.sessions.values()) * len(self.names) / self.sessions.total()


@pytest.mark.parametrize("cohorts", [0, 1, 30, 400])
def test_ten_thousand_sessions_on_three_hundred_replicas_are_balanced(cohorts: int) -> None:
    pool = Pool(300, cohorts=cohorts)
    pool.arrive(range(10_000))
    assert pool.evenness() <= BOUND


@pytest.mark.parametrize("cohorts", [0, 1, 30])
def test_newcomers_fill_a_replica_that_has_joined_whatever_the_others_hold(cohorts: int) -> None:
    pool = Pool(60, cohorts=cohorts)
    pool.arrive(range(2_000))
    pool.names += [ReplicaId("joined"), ReplicaId("joined too")]
    pool.arrive(range(2_000, 2_080))
    assert min(pool.sessions[each] for each in pool.names) >= 30
    assert pool.evenness() <= 1.1
