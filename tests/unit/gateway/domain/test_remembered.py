from gateway.domain.remembered import Remembered


def test_an_answer_counts_until_its_time_even_when_it_is_nothing() -> None:
    remembered = Remembered[str, str | None](2)
    remembered.put("a", None, until=10.0)
    assert remembered.get("a", now=9.9) == (None,)
    assert remembered.get("a", now=10.0) is None
    assert remembered.last("a") == (None,)
    assert remembered.get("b", now=0.0) is None
    assert remembered.last("b") is None


def test_only_the_latest_are_kept() -> None:
    remembered = Remembered[str, int](2)
    for name, number in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        remembered.put(name, number, until=10.0)
    assert [remembered.get(name, now=0.0) for name in "abc"] == [(3,), None, (4,)]


def test_what_is_forgotten_is_gone() -> None:
    remembered = Remembered[str, int](2)
    remembered.put("a", 1, until=10.0)
    remembered.forget("a")
    remembered.forget("never known")
    assert remembered.get("a", now=0.0) is None
