"""Where allowed phrases stand, by each of two readings of which one goes its own way."""

from gateway.domain.moderation.normalise import Normaliser
from gateway.domain.moderation.pardons import Pardons
from gateway.domain.moderation.readings import Hit
from tests.support.phrase_lists import book

BOOK = book("第一", allowed=("第一梯队",))
SHORT, LONG = Hit(0, 2, 0, 2), Hit(0, 4, 0, 4)


def fed(pardons: Pardons, text: str, *, at: int = 0) -> Pardons:
    normaliser = Normaliser(BOOK.folding)
    for place, raw in enumerate(text, start=at):
        for symbol in normaliser.take(raw, place):
            pardons.read(symbol)
    return pardons


def test_only_what_is_shorter_is_pardoned_once_the_allowed_phrase_is_whole() -> None:
    begun = fed(Pardons(BOOK), "第一梯")
    assert (begun.may_cover(SHORT), begun.cover(SHORT)) == (True, False)
    whole = fed(begun, "队", at=3)
    assert (whole.may_cover(SHORT), whole.cover(SHORT), whole.cover(LONG)) == (False, True, False)
    whole.forget(4)
    assert not whole.cover(SHORT)


def test_another_that_has_read_the_same_goes_its_own_way() -> None:
    one = fed(Pardons(BOOK), "第一梯")
    other = one.fork()
    fed(one, "度", at=3)
    assert (one.may_cover(SHORT), other.may_cover(SHORT)) == (False, True)
    assert fed(other, "队", at=3).cover(SHORT)
    assert not one.cover(SHORT)
