"""How the window is shared when a question is answered from background."""

from dataclasses import dataclass

_LEAST_PARTS_OF_WINDOW = 4


@dataclass(frozen=True, slots=True)
class AnswerShares:
    """All in tokens; an answer, a summary and a question take at most a quarter of the window each."""

    window: int
    answer: int
    summary: int
    question: int
    background: int

    @property
    def most_answer(self) -> int:
        return min(self.answer, self.window // _LEAST_PARTS_OF_WINDOW)

    @property
    def most_summary(self) -> int:
        return min(self.summary, self.window // (2 * _LEAST_PARTS_OF_WINDOW))

    @property
    def most_question(self) -> int:
        return min(self.question, self.window // _LEAST_PARTS_OF_WINDOW)
