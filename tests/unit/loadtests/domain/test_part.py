"""A part knows how much it is and when it ends."""

from loadtests.domain.part import Ask, Part, Visit


def test_a_part_counts_its_messages_over_all_its_visits() -> None:
    visits = (Visit(opens_s=-1, asks=(Ask(at_s=0), Ask(at_s=9))), Visit(opens_s=20, asks=(Ask(at_s=21),)))
    part = Part(trainee=0, visits=visits)
    assert (part.asks, part.last_s) == (3, 21)


def test_a_visit_without_messages_ends_where_it_opens() -> None:
    assert Part(trainee=0, visits=(Visit(opens_s=-3, asks=()),)).last_s == -3
