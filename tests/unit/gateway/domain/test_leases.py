from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.leases import Leases, held, lives, next_end, renew, retry_after_us, take

NOW, LEASE = 1_000_000, 300


def test_a_place_counts_until_its_end() -> None:
    assert lives(NOW + 1, NOW, LEASE)
    assert not lives(NOW, NOW, LEASE)
    assert not lives(None, NOW, LEASE)


def test_a_place_of_another_clock_does_not_count() -> None:
    assert lives(NOW + 2 * LEASE, NOW, LEASE)
    assert not lives(NOW + 2 * LEASE + 1, NOW, LEASE)


def test_taking_puts_out_those_whose_time_is_over() -> None:
    leases = {"over": NOW, "there": NOW + 1}
    take(leases, "new", NOW, LEASE)
    assert leases == {"there": NOW + 1, "new": NOW + LEASE}
    assert held(leases, NOW, LEASE) == 2
    assert next_end(leases, NOW, LEASE) == 1
    assert next_end({}, NOW, LEASE) == 0


def test_a_lost_place_is_never_revived() -> None:
    leases = {"over": NOW, "there": NOW + 1}
    assert renew(leases, "there", NOW, LEASE)
    assert not renew(leases, "over", NOW, LEASE)
    assert not renew(leases, "unknown", NOW, LEASE)
    assert leases == {"over": NOW, "there": NOW + LEASE}


def test_the_wait_for_a_place_is_short_and_never_nothing() -> None:
    assert [retry_after_us(left) for left in (0, 1_500_000, 20_000_000)] == [1_000_000, 1_500_000, 2_000_000]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("tr"), st.integers(0, 200)), max_size=60))
def test_whoever_renews_in_time_keeps_its_place_and_whoever_does_not_loses_it(
    steps: list[tuple[str, str, int]],
) -> None:
    leases: Leases = {}
    heard: dict[str, int] = {}
    now = NOW
    for name, step, by in steps:
        now += by
        alive = name in heard and heard[name] + LEASE > now
        if step == "t":
            take(leases, name, now, LEASE)
            heard[name] = now
        else:
            assert renew(leases, name, now, LEASE) == alive
            heard[name] = now if alive else -LEASE
        assert held(leases, now, LEASE) == sum(at + LEASE > now for at in heard.values())
