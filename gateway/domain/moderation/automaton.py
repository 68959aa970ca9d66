"""Knows many words at once: an Aho-Corasick automaton, whose state is a number that any stream may keep for itself.

In a state it is known how long the longest end of the text is that begins some word, and which words end here. A step
costs the same however many words there are. Lengths are counted without edges, the character that stands around words
of letters.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

_ROOT = 0
_CHAR_BITS = 21
"""As many as a code point has."""
_CHAR = (1 << _CHAR_BITS) - 1


class Automaton:
    """The words, by their number in the sequence that it was made from. None may be empty."""

    def __init__(self, words: Sequence[str], *, edge: str) -> None:
        self._edge = ord(edge)
        self._goto: dict[int, int] = {}
        """From a state and a character, as one number: a flat table takes half the memory of one per state."""
        self._words: dict[int, list[int]] = {}
        levels = self._plant(words)
        self.longest = len(levels)
        states = sum(map(len, levels)) + 1
        self._fail, self.unfinished, self.open_word, self.ends = ([_ROOT] * states for _ in range(4))
        """By the state. `ends`: the nearest state in which a word ends; not zero: one ends here. `unfinished`: how many
        of the last characters begin a longer word, at the most; `open_word`: the same of what needs no edge next.
        """
        self._link(levels)

    def step(self, state: int, char: str) -> int:
        """The state after one more character."""
        code = ord(char)
        following = self._goto.get(state << _CHAR_BITS | code)
        while following is None and state != _ROOT:
            state = self._fail[state]
            following = self._goto.get(state << _CHAR_BITS | code)
        return following or _ROOT

    def ending(self, state: int) -> Iterator[int]:
        """The words that end here, the longest first."""
        state = self.ends[state]
        while state != _ROOT:
            yield from self._words[state]
            state = self.ends[self._fail[state]]

    def _plant(self, words: Sequence[str]) -> list[list[int]]:
        """A tree of all words; the keys by which its states are reached, by their depth."""
        goto, levels = self._goto, [list[int]() for _ in range(max(map(len, words), default=0))]
        states = 0
        for number, word in enumerate(words):
            state = _ROOT
            for depth, char in enumerate(word):
                key = state << _CHAR_BITS | ord(char)
                following = goto.get(key)
                if following is None:
                    states += 1
                    following = goto[key] = states
                    levels[depth].append(key)
                state = following
            self._words.setdefault(state, []).append(number)
        return levels

    def _link(self, levels: Sequence[Sequence[int]]) -> None:
        """Each state to the longest end of it that is a state too: those of one depth need only those of less."""
        goto, fails, ends = self._goto, self._fail, self.ends
        parents = {key >> _CHAR_BITS for level in levels for key in level}
        word_parents = {key >> _CHAR_BITS for level in levels for key in level if key & _CHAR != self._edge}
        lengths = [0] * len(fails)
        for key in chain.from_iterable(levels):
            state, parent, code = goto[key], key >> _CHAR_BITS, key & _CHAR
            fail = fails[state] = self.step(fails[parent], chr(code)) if parent != _ROOT else _ROOT
            ends[state] = state if state in self._words else ends[fail]
            length = lengths[state] = lengths[parent] + (code != self._edge)
            self.unfinished[state] = length if state in parents else self.unfinished[fail]
            self.open_word[state] = length if state in word_parents else self.open_word[fail]
