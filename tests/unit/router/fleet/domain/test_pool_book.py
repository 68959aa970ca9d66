"""What an operator wants of a pool."""

from router.fleet.domain.pool_book import Floor


def test_a_floor_holds_until_its_moment() -> None:
    floor = Floor(3, until=100.0, set_by="op")
    assert [floor.at(now) for now in (0.0, 99.9, 100.0, 200.0)] == [3, 3, 0, 0]


def test_a_floor_without_an_end_holds_until_it_is_taken_back() -> None:
    assert Floor(3, until=None, set_by="op").at(1e12) == 3
