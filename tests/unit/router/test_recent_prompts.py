"""The last prompts, within their bytes."""

from hypothesis import given
from hypothesis import strategies as st

from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand
from router.recent_prompts import RecentPrompts

ONE, TWO, THREE = (AffinityKey(name) for name in ("one", "two", "three"))


def call(size: int, name: str = "r") -> Call:
    return Call(CallPath.CHAT, b"x" * size, "m", True, name)


def test_the_last_call_of_each_session_is_kept_as_it_is() -> None:
    prompts = RecentPrompts(limit_bytes=100_000)
    last = call(10, "last")
    prompts.remember(ONE, call(9_000, "first"), Demand(7))
    prompts.remember(ONE, last, Demand(9))
    assert prompts.get(ONE) is last
    assert prompts.demand(ONE) == Demand(9)
    assert (len(prompts), prompts.size_bytes < 1_000) == (1, True)
    assert (prompts.get(TWO), prompts.demand(TWO)) == (None, None)


def test_the_session_that_was_silent_longest_is_forgotten_first() -> None:
    prompts = RecentPrompts(limit_bytes=4_000)
    for key in (ONE, TWO, ONE, THREE):
        prompts.remember(key, call(1_000))
    assert [key for key in (ONE, TWO, THREE) if prompts.get(key)] == [ONE, THREE]


def test_what_is_larger_than_all_that_may_be_kept_is_not_kept_and_nor_is_what_it_replaces() -> None:
    prompts = RecentPrompts(limit_bytes=2_000)
    prompts.remember(ONE, call(10))
    prompts.remember(TWO, call(10))
    prompts.remember(ONE, call(2_000))
    assert (prompts.get(ONE), prompts.get(TWO) is not None) == (None, True)


def test_it_is_known_whose_last_turn_ended_where() -> None:
    prompts = RecentPrompts(limit_bytes=100_000)
    a, b = ReplicaId("a"), ReplicaId("b")
    for key, replica in ((ONE, a), (TWO, a), (THREE, b), (TWO, b)):
        prompts.remember(key, call(10), None, replica)
    assert (prompts.last_at(a), prompts.last_at(b), prompts.last_at(ReplicaId("c"))) == ([ONE], [THREE, TWO], [])


def test_forgetting_gives_the_bytes_back() -> None:
    prompts = RecentPrompts(limit_bytes=2_000)
    prompts.remember(ONE, call(10))
    prompts.forget(ONE)
    prompts.forget(TWO)
    assert (len(prompts), prompts.size_bytes) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3_000), st.booleans())), st.integers(0, 9_000))
def test_the_bytes_are_never_more_than_allowed_and_always_those_of_what_is_kept(
    steps: list[tuple[int, int, bool]], limit: int
) -> None:
    prompts = RecentPrompts(limit_bytes=limit)
    for number, size, is_kept in steps:
        key = AffinityKey(str(number))
        if is_kept:
            prompts.remember(key, call(size))
        else:
            prompts.forget(key)
        assert prompts.size_bytes <= limit
    kept = [found for number in range(10) if (found := prompts.get(AffinityKey(str(number)))) is not None]
    assert (len(kept), sum(len(each.body) + 600 for each in kept)) == (len(prompts), prompts.size_bytes)
