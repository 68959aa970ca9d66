"""How a class strains its pool."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.strain import MOST_OVERLAPS, PoolLoad, Strain
from router.fleet.domain.demand import Booking, BookingId, PoolName, demand
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.timeline import Lead, Shortage, replicas_for

POOL, ELSEWHERE = PoolName("large"), PoolName("small")
RULES = PoolRules(seats_per_replica=10, maximum=4, starts_at_once=2)
NINE_MINUTES = Lead(start_s=270.0, last_s=540.0, ahead_s=1800.0)
NOW = 0.0


def booking(name: str, begins: float = 6000, ends: float = 9000, expected: int = 20, **changes: object) -> Booking:
    usual = Booking(BookingId(name), POOL, begins, ends, expected)
    return replace(usual, **changes)  # type: ignore[arg-type]  # fields by their names


def strain(asked: Booking, *others: Booking, own: tuple[str, ...] = ()) -> Strain:
    named = {asked.id, *map(BookingId, own)}
    load = PoolLoad(pool=POOL, bookings=[asked, *others], rules=RULES, own=named)
    return load.of(asked, ahead=NINE_MINUTES, now=NOW)


def test_a_class_that_fits_strains_nothing() -> None:
    assert strain(booking("a")) == Strain(POOL, 2, 4, [], [], "")
    assert strain(booking("a")).text == ""


def test_classes_of_all_tenants_add_up_over_the_time_of_the_class() -> None:
    others = [
        booking("before", 0, 6000, 99),
        booking("within", 7000, 8000, 20),
        booking("half", 8000, 20_000, 40),
        booking("after", 9000, 9900, 99),
        booking("elsewhere", 6000, 9000, 99, pool=ELSEWHERE),
        booking("off", 6000, 9000, 99, is_cancelled=True),
    ]
    found = strain(booking("a"), *others)
    assert (found.needs, found.allows) == (6, 4)
    assert found.shortages == [Shortage(8000, 9000, 6, 4)]
    assert found.text == "needs 6 replicas, the pool allows 4"


def test_the_worst_shortage_is_told_and_a_long_one_is_cut_to_the_class() -> None:
    found = strain(booking("a"), booking("long", 0, 99_999, 50), booking("peak", 7000, 7500, 30))
    assert [(each.begins, each.ends, each.needs) for each in found.shortages] == [
        (6000, 7000, 7),
        (7000, 7500, 10),
        (7500, 9000, 7),
    ]
    assert found.text == "needs 10 replicas, the pool allows 4"


def test_what_is_asked_about_counts_as_it_is_asked() -> None:
    stored = booking("a", expected=500)
    assert strain(booking("a", version=2), stored).needs == 2


def test_only_classes_of_the_own_tenant_are_named() -> None:
    others = [booking("ours", 8000, 9900, 1), booking("theirs"), booking("over", 0, 6000), booking("later", 9000, 9900)]
    found = strain(booking("a"), *others, own=("ours", "over", "later"))
    assert found.overlaps == [BookingId("ours")]
    many = [booking(f"b{number:02}", expected=1) for number in range(30)]
    assert strain(booking("a"), *many, own=tuple(each.id for each in many)).overlaps == [
        each.id for each in many[:MOST_OVERLAPS]
    ]


def test_a_bell_that_is_nearer_than_a_start_takes_is_warned_of() -> None:
    def text(asked: Booking) -> str:
        return strain(asked).text

    assert text(booking("a", 240, 6000)) == "replicas take about 5 min, the bell is in 4"
    assert text(booking("a", 240, 6000, 40)) == "replicas take about 9 min, the bell is in 4"
    assert text(booking("a", -60, 6000)) == "replicas take about 5 min, the bell has rung"
    assert text(booking("a", 270, 6000)) == ""
    assert text(booking("a", -600, 0)) == ""
    assert text(booking("a", 240, 6000, 45)) == (
        "needs 5 replicas, the pool allows 4; replicas take about 9 min, the bell is in 4"
    )


SPANS = st.tuples(st.integers(0, 50), st.integers(1, 20), st.integers(1, 60))


@given(st.lists(SPANS, min_size=1, max_size=12))
def test_it_needs_what_the_demand_says_at_its_worst_moment(spans: list[tuple[int, int, int]]) -> None:
    bookings = [booking(str(n), begins, begins + length, seats) for n, (begins, length, seats) in enumerate(spans)]
    load = PoolLoad(pool=POOL, bookings=bookings, rules=RULES, own={each.id for each in bookings})
    seats = demand(bookings, POOL)
    for each in bookings:
        found = load.of(each, ahead=NINE_MINUTES, now=NOW)
        peak = max(seats.at(moment) for moment in range(int(each.begins), int(each.ends)))
        assert found.needs == replicas_for(peak, RULES)
        met = [one for one in bookings if one.begins < each.ends and one.ends > each.begins and one is not each]
        assert found.overlaps == [one.id for one in sorted(met, key=lambda one: (one.begins, one.id))]
        assert max((one.needs for one in found.shortages), default=0) == (found.needs if found.needs > 4 else 0)
