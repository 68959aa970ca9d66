"""Writes the prompts of jobs for one served model: its tokenizer, its window, and what each answer may take of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.domain.answer_prompt import question_messages, summary_messages
from sessions.domain.answer_shares import AnswerShares
from sessions.domain.background import background_text, citation
from sessions.domain.citation import NO_BACKGROUND, Background, Citation
from sessions.domain.job_layers import LayerSizes
from sessions.domain.knowledge import Chunk
from sessions.domain.nearness import nearest
from sessions.domain.prompt import Message, PromptRules
from sessions.errors import TextEmpty, TextTooLong
from sessions.ports import TokenCounter
from sessions.prompt_ruler import MARGIN_TOKENS, count_up_to

_PIECE_TOKENS = 48
"""Of the line that names a piece's source; a heading may be longer, so it is only used for planning."""
_MOST_CONSIDERED = 12
"""Pieces of a document for one question; counting every piece that does not fit would take longer than the answer."""


@dataclass(frozen=True, slots=True)
class AnswerPrompt:
    """A prompt that fits, with what is left for the reply."""

    messages: tuple[Message, ...]
    prompt_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class DocumentPieces:
    """What of a document an answer is made from, and where that is from; an overview is not cited."""

    shown: tuple[Chunk, ...]
    citations: tuple[Citation, ...]


class AnswerWriter:
    def __init__(self, *, counter: TokenCounter, shares: AnswerShares) -> None:
        self._counter = counter
        self._shares = shares
        self._rules = PromptRules(counter.special_tokens, counter.message_overhead)

    @property
    def window_tokens(self) -> int:
        return self._shares.window

    @property
    def sizes(self) -> LayerSizes:
        """What fits into one prompt of a layer; a quarter is kept free, since another model may come to serve it."""
        empty = self._counter.count_prompt(summary_messages((), self._rules))
        room = (self._shares.window - empty - self._shares.most_summary - MARGIN_TOKENS) * 3 // 4
        return LayerSizes(
            whole=min(self._shares.background, room // 2),
            stretch=room,
            piece=_PIECE_TOKENS,
            summaries=max(2, room // (self._shares.most_summary + _PIECE_TOKENS)),
        )

    def room(self, guidance: str, question: str) -> int:
        """Tokens that the background of this question may take; raises `TextEmpty` or `TextTooLong`."""
        self._check(question)
        left = self._shares.window - self._size(question_messages(guidance, question, "-", self._rules))
        return max(0, min(self._shares.background, left - self._shares.most_answer - MARGIN_TOKENS))

    def question(self, guidance: str, question: str, background: Background = NO_BACKGROUND) -> AnswerPrompt:
        """Raises `TextEmpty` or `TextTooLong`."""
        self._check(question)
        messages = question_messages(guidance, question, background.text, self._rules)
        return self._prompt(messages, self._shares.most_answer)

    def summary(self, pieces: Sequence[Chunk]) -> AnswerPrompt:
        """Raises `TextTooLong`."""
        return self._prompt(summary_messages(pieces, self._rules), self._shares.most_summary)

    def nearest(self, question: str, overview: Chunk | None, pieces: Sequence[Chunk], *, budget: int) -> DocumentPieces:
        """The overview of a document if there is one, and then the pieces nearest to the question, as many as fit. A
        question that shares no word with any of them gets them from the beginning on."""
        found = nearest(question, [f"{piece.heading}\n{piece.text}" for piece in pieces])
        ranked = found or [(place, 0.0) for place in range(len(pieces))]
        shown = self._fitting([] if overview is None else [overview], budget)
        cited: list[Citation] = []
        for place, score in ranked[:_MOST_CONSIDERED]:
            piece = pieces[place]
            more = self._fitting([*shown, piece], budget)
            if len(more) > len(shown):
                shown = more
                cited.append(citation(piece, score))
        return DocumentPieces(tuple(shown), tuple(cited))

    def background(self, pieces: DocumentPieces) -> Background:
        text = background_text(pieces.shown)
        return Background(text, self._count(text), pieces.citations)

    def _fitting(self, pieces: list[Chunk], budget: int) -> list[Chunk]:
        """All of them, or all but the last one."""
        return pieces if self._count(background_text(pieces)) <= budget else pieces[:-1]

    def _count(self, text: str) -> int:
        return self._counter.count_text(self._rules.harmless(text))

    def _check(self, question: str) -> None:
        if not question.strip():
            raise TextEmpty("the question is empty")
        limit = self._shares.most_question
        tokens = count_up_to(limit, question, self._count)
        if tokens > limit:
            raise TextTooLong(tokens=tokens, limit=limit)

    def _prompt(self, messages: tuple[Message, ...], cap: int) -> AnswerPrompt:
        size = self._size(messages)
        if size + cap > self._shares.window:
            raise TextTooLong(tokens=size, limit=self._shares.window - cap)
        return AnswerPrompt(messages, size, cap)

    def _size(self, messages: Sequence[Message]) -> int:
        return self._counter.count_prompt(messages)
