"""The end of a stream that is still held."""

from gateway.domain.moderation.held_text import HeldText


def test_places_stay_the_same_when_the_beginning_has_gone() -> None:
    held = HeldText()
    held.add("abc")
    assert held.let_go(2) == "ab"
    held.add("de")
    assert (held.start, held.end) == (2, 5)
    assert (held.between(2, 4), held.between(4, 5), held.between(3, 3)) == ("cd", "e", "")
