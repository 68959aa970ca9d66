"""Where a reply ends, and what of it can be read when; the recorded stream with a stop string comes out again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.packed_tokens import Token, tokens_of
from loadtests.simulator.domain.speech import Ending, Speech, Voice, ended

RECORDED = [Token(n, text) for n, text in enumerate(("The", " capital", " of", " France", " is", " Paris", ".", ""))]


def spoken(speech: Speech, ending: Ending) -> list[str]:
    voice, last = Voice(speech, ending), len(speech.tokens)
    return [voice.say(1, finished=place == last) for place in range(1, last + 1)]


def test_without_stops_a_reply_goes_to_its_end() -> None:
    speech = ended(RECORDED, Ending())
    assert spoken(speech, Ending()) == [token.text for token in RECORDED]
    assert speech.stop_reason is None


def test_with_a_stop_string_text_is_held_back_as_in_the_recording() -> None:
    ending = Ending(stop=(" Paris",))
    speech = ended(RECORDED, ending)
    assert spoken(speech, ending) == ["", "The ca", "pit", "al of F", "ran", "ce is"]
    assert speech.stop_reason == " Paris"


def test_a_stop_string_that_is_asked_for_is_shown() -> None:
    ending = Ending(stop=(" Par",), show_stop=True)
    assert "".join(spoken(ended(RECORDED, ending), ending)) == "The capital of France is Par"


def test_a_stop_string_across_tokens_is_found() -> None:
    ending = Ending(stop=("e is P",))
    speech = ended(RECORDED, ending)
    assert len(speech.tokens) == 6
    assert "".join(spoken(speech, ending)) == "The capital of Franc"


def test_of_several_stop_strings_the_one_that_begins_first_counts() -> None:
    ending = Ending(stop=("France", "of F"))
    speech = ended(RECORDED, ending)
    assert (speech.stop_reason, "".join(spoken(speech, ending))) == ("of F", "The capital ")


@pytest.mark.parametrize(("shows", "text"), [(False, "The capital of"), (True, "The capital of France")])
def test_a_stop_token_ends_a_reply(shows: bool, text: str) -> None:
    ending = Ending(stop_token_ids=frozenset({3}), show_stop=shows)
    speech = ended(RECORDED, ending)
    assert "".join(spoken(speech, ending)) == text
    assert speech.stop_reason == 3


def test_nothing_stops_a_reply_before_it_has_its_least_tokens() -> None:
    ending = Ending(stop=("capital", "is"), least_tokens=5)
    assert len(ended(RECORDED, ending).tokens) == 5


def test_the_stop_reason_is_known_only_at_the_end() -> None:
    ending = Ending(stop=(" Paris",))
    voice = Voice(ended(RECORDED, ending), ending)
    voice.say(3, finished=False)
    assert (voice.tokens, voice.stop_reason) == (3, None)
    voice.say(3, finished=True)
    assert (voice.tokens, voice.stop_reason) == (6, " Paris")


def test_what_is_held_back_comes_out_when_the_reply_is_cut() -> None:
    ending = Ending(stop=("never said",))
    voice = Voice(ended(RECORDED, ending), ending)
    assert voice.say(3, finished=False) + voice.say(1, finished=True) == "The capital of France"


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=4), max_size=3), st.integers(1, 3))
def test_however_it_is_cut_the_text_is_what_stands_before_the_first_stop(
    text: str, stops: list[str], each: int
) -> None:
    ending = Ending(stop=tuple(stops))
    speech = ended(tokens_of(text), ending)
    voice, said = Voice(speech, ending), ""
    while voice.tokens < len(speech.tokens):
        said += voice.say(each, finished=voice.tokens + each >= len(speech.tokens))
    assert said == text[: speech.shown]
    assert (speech.stop_reason is None) == (not any(stop in text for stop in stops))


def test_ids_are_those_of_the_tokens() -> None:
    assert ended(RECORDED, Ending()).ids == tuple(range(8))
