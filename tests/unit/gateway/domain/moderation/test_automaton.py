"""Many words at once, against looking for each of them."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.moderation.automaton import Automaton

# Few characters, so that words overlap, and one beyond the basic plane.
words = st.lists(st.text("ab 𠮷", min_size=1, max_size=5), max_size=8)


def made(words: Sequence[str]) -> Automaton:
    return Automaton(words, edge=" ")


def states(automaton: Automaton, text: str) -> list[int]:
    """After no character, and after each."""
    found = [0]
    for char in text:
        found.append(automaton.step(found[-1], char))
    return found


@given(words, st.text("ab 𠮷c", max_size=20))
def test_it_finds_what_a_search_for_each_word_finds(sought: list[str], text: str) -> None:
    automaton = made(sought)
    for end, state in enumerate(states(automaton, text)):
        ending = [number for number, word in enumerate(sought) if text[:end].endswith(word)]
        assert sorted(automaton.ending(state)) == ending
        assert bool(automaton.ends[state]) is bool(ending)


@given(words, st.text("ab 𠮷c", max_size=20))
def test_it_knows_the_longest_beginning_of_a_longer_word(sought: list[str], text: str) -> None:
    automaton = made(sought)
    for end, state in enumerate(states(automaton, text)):
        ends = [text[start:end] for start in range(end)]
        open_ends = [each for each in ends if any(word != each and word.startswith(each) for word in sought)]
        in_words = [
            each
            for each in open_ends
            if any(word[len(each) :].strip(" ") and word.startswith(each) and word[len(each)] != " " for word in sought)
        ]
        assert automaton.unfinished[state] == max((len(each.replace(" ", "")) for each in open_ends), default=0)
        assert automaton.open_word[state] == max((len(each.replace(" ", "")) for each in in_words), default=0)


def test_the_longest_word_is_told_first() -> None:
    automaton = made(["c", "abc", "bc"])
    assert list(automaton.ending(states(automaton, "abc")[-1])) == [1, 2, 0]


def test_it_knows_its_longest_word() -> None:
    assert [automaton.longest for automaton in (made([]), made(["ab", "abc", "ab"]))] == [0, 3]
