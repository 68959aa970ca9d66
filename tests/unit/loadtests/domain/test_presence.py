"""How many sessions were open when."""

from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.presence import Presence
from loadtests.domain.rows import Kind
from tests.support.load_rows import a_session, a_turn

SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(sorted), min_size=1, max_size=20)


def presence_of(spans: list[list[int]]) -> Presence:
    return Presence(
        a_turn(trainee=number, session=f"s-{number}", started_s=float(begins), ended_s=float(ends))
        for number, (begins, ends) in enumerate(spans)
    )


@given(SPANS, st.integers(-5, 55), st.integers(0, 20))
def test_it_is_the_number_of_sessions_that_began_and_have_not_ended(
    spans: list[list[int]], moment: int, length: int
) -> None:
    presence = presence_of(spans)
    assert presence.at(moment) == sum(1 for begins, ends in spans if begins <= moment <= ends)
    assert presence.within(moment, moment + length + 1) == sum(
        1 for begins, ends in spans if begins < moment + length + 1 and ends >= moment
    )
    assert presence.most == max(presence.at(at_s) for at_s in range(51))


@given(SPANS)
def test_the_seconds_of_all_levels_are_those_from_first_to_last(spans: list[list[int]]) -> None:
    seconds = presence_of(spans).seconds_at()
    assert sum(seconds.values()) == max(ends for _, ends in spans) - min(begins for begins, _ in spans)
    assert sum(level * lasted for level, lasted in seconds.items()) == sum(ends - begins for begins, ends in spans)


def test_a_session_is_open_between_its_turns() -> None:
    presence = Presence(a_session(2, every_s=100.0))
    assert presence.at(50.0) == 1
    assert presence.at(103.0) == 0


def test_sessions_of_two_trainees_are_two() -> None:
    assert Presence([a_turn(trainee=0), a_turn(trainee=1)]).most == 2


def test_misdeeds_audits_and_what_was_never_opened_are_no_sessions() -> None:
    rows = [a_turn(kind=Kind.HOSTILE), a_turn(kind=Kind.AUDIT, session="s-9"), a_turn(kind=Kind.OPEN, session="")]
    assert Presence(rows).most == 0
    assert Presence(rows).seconds_at() == {}
