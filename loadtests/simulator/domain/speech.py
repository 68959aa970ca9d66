"""What a model says, token by token: where a reply ends, and how much of it can be read at any time."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.simulator.domain.packed_tokens import Token


@dataclass(frozen=True, slots=True)
class Ending:
    """What may end a reply before the model does."""

    stop: tuple[str, ...] = ()
    stop_token_ids: frozenset[int] = frozenset()
    show_stop: bool = False
    least_tokens: int = 0
    """Nothing stops a reply before it has so many tokens."""


@dataclass(frozen=True, slots=True)
class Speech:
    """A whole reply, its last token included; `shown` is how much of its text is to be seen."""

    tokens: tuple[Token, ...]
    shown: int
    stop_reason: str | int | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token.id for token in self.tokens)


def ended(tokens: Sequence[Token], ending: Ending) -> Speech:
    """Cut a reply where a stop string is complete or a stop token stands; else it goes to its last token."""
    text = ""
    for count, token in enumerate(tokens, start=1):
        before = len(text)
        text += token.text
        if count < ending.least_tokens:
            continue
        if token.id in ending.stop_token_ids:
            shown = len(text) if ending.show_stop else before
            return Speech(tuple(tokens[:count]), shown, token.id)
        if (found := _first_stop(text, ending.stop, before)) is not None:
            place, stop = found
            shown = place + len(stop) if ending.show_stop else place
            return Speech(tuple(tokens[:count]), shown, stop)
    return Speech(tuple(tokens), len(text))


def _first_stop(text: str, stops: Sequence[str], before: int) -> tuple[int, str] | None:
    """Of several stop strings in what came after `before`, the one that begins first."""
    places = ((text.find(stop, max(0, before - len(stop) + 1)), stop) for stop in stops)
    return min(((place, stop) for place, stop in places if place >= 0), default=None)


class Voice:
    """Says a speech piece by piece. While a stop string might still be in the making, its length is held back."""

    def __init__(self, speech: Speech, ending: Ending) -> None:
        self._speech = speech
        longest = max(map(len, ending.stop), default=1)
        self._held_back = 0 if ending.show_stop else longest - 1
        self._tokens = 0
        self._heard = ""
        self._shown = 0

    @property
    def tokens(self) -> int:
        return self._tokens

    @property
    def stop_reason(self) -> str | int | None:
        """What stopped the reply, once it was said to its end."""
        return self._speech.stop_reason if self._tokens == len(self._speech.tokens) else None

    def say(self, count: int, *, finished: bool) -> str:
        """The text that `count` more tokens bring to light."""
        tokens = self._speech.tokens[self._tokens : self._tokens + count]
        self._tokens += len(tokens)
        self._heard += "".join(token.text for token in tokens)
        end = len(self._heard) if finished else len(self._heard) - self._held_back
        end = min(max(end, self._shown), self._speech.shown)
        text = self._heard[self._shown : end]
        self._shown = max(self._shown, end)
        return text
