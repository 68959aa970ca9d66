"""Answers that count for a while, at most so many of them."""

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Answer = TypeVar("Answer")


class Remembered(Generic[Key, Answer]):
    """The latest `most` answers; the oldest goes first, and each is over at its own time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: OrderedDict[Key, tuple[float, Answer]] = OrderedDict()

    def put(self, key: Key, answer: Answer, *, until: float) -> None:
        self._answers.pop(key, None)
        self._answers[key] = until, answer
        if len(self._answers) > self._most:
            self._answers.popitem(last=False)

    def get(self, key: Key, *, now: float) -> tuple[Answer] | None:
        """The answer, in a tuple because None may be one; None when there is none that still counts."""
        found = self._answers.get(key)
        return (found[1],) if found is not None and now < found[0] else None

    def last(self, key: Key) -> tuple[Answer] | None:
        """The same, though it be over."""
        found = self._answers.get(key)
        return None if found is None else (found[1],)

    def forget(self, key: Key) -> None:
        self._answers.pop(key, None)
