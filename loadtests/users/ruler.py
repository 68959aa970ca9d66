"""Makes texts of so many tokens, as the server itself counts them; where it does not count, by letters."""

import math
from dataclasses import dataclass

from loadtests.domain.sized_text import text_of, text_of_blocks
from loadtests.users.caller import Caller, Lost

_USUAL_LETTERS_PER_TOKEN = 4.0
_SAMPLE_LETTERS = 4_000
_TRIES = 12
_OK = 200


@dataclass(frozen=True, slots=True)
class Sized:
    text: str
    is_counted: bool
    """By the server; else it is a guess by letters."""


class Ruler:
    """Asks the server once how many letters a token has."""

    def __init__(self, caller: Caller, *, model: str) -> None:
        self._caller = caller
        self._model = model
        self._letters_per_token: float | None = None
        self._is_counted = True

    def text(self, name: str, tokens: int, *, exactly: bool = False) -> Sized:
        """With `exactly` the whole prompt, with what the model puts around a message, has so many tokens."""
        letters = max(1, round(tokens * self.letters_per_token))
        too_short, too_long = 0.0, math.inf
        for _ in range(_TRIES if exactly and self._is_counted else 0):
            counted = self._count(messages=[{"role": "user", "content": text_of(name, letters)}])
            if counted is None or counted == tokens:
                break
            too_short, too_long = (letters, too_long) if counted < tokens else (too_short, letters)
            likely = letters + round((tokens - counted) * max(1.0, self.letters_per_token))
            letters = likely if too_short < likely < too_long else max(1, round(too_short + too_long) // 2)
        return Sized(text_of(name, letters), self._is_counted)

    def text_of_blocks(self, name: str, blocks: tuple[int, ...], *, block_tokens: int, tokens: int) -> Sized:
        block_letters, letters = (round(each * self.letters_per_token) for each in (block_tokens, tokens))
        return Sized(text_of_blocks(name, blocks, block_letters=block_letters, letters=letters), self._is_counted)

    @property
    def letters_per_token(self) -> float:
        if self._letters_per_token is None:
            sample = text_of("a sample to count", _SAMPLE_LETTERS)
            counted = self._count(prompt=sample)
            self._is_counted = bool(counted)
            self._letters_per_token = len(sample) / counted if counted else _USUAL_LETTERS_PER_TOKEN
        return self._letters_per_token

    def _count(self, **what: object) -> int | None:
        try:
            answer = self._caller.send_json("POST", "/tokenize", {"model": self._model, **what})
            content = answer.json()
        except Lost:
            return None
        count = content.get("count") if answer.status == _OK and isinstance(content, dict) else None
        return count if isinstance(count, int) else None
