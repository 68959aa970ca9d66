"""Writes what asks for notes, and makes of the answers what may stand in a prompt."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sessions.domain.compaction import Fold
from sessions.domain.facts import FactRules, key_facts
from sessions.domain.history import History
from sessions.domain.note_check import checked_text, unmarked
from sessions.domain.prompt import Message, Prompt, Role, before_message
from sessions.domain.scenario import ScenarioContent
from sessions.domain.session import Session
from sessions.domain.summary_text import (
    asking,
    bounded,
    join_messages,
    nothing_kept,
    piece_messages,
    transcript_line,
)
from sessions.domain.turn import Turn
from sessions.prompt_ruler import MARGIN_TOKENS, MOST_CHARACTERS_PER_TOKEN, PromptRuler
from sessions.written import Written

_FACTS_SHARE = 0.6
"""Of a note's tokens: recall must not hang on what a small model thought worth writing. A note that may be longer has
more facts and no more prose."""


class NoteWriter:
    def __init__(self, ruler: PromptRuler) -> None:
        self._ruler = ruler
        self._rules = ruler.rules
        self._note = ruler.shares.note

    def request(self, session: Session, content: ScenarioContent, history: History, fold: Fold) -> Written:
        """The live prompt up to the last folded reply, and the question for a note: all but the question is in the
        replica's cache. Where the window has no room for both, the turns alone are shown."""
        turns = tuple(turn for turn in history.turns if turn.number <= fold.to_turn)
        before = before_message(content, session.scene, replace(history, turns=turns), self._rules)
        asked = Message(Role.USER, asking(content.locale, note_tokens=self._note))
        written = self._written((*before.messages, asked), before.remembered)
        return written if written.max_tokens == self._note else self.pieces(content, turns)[0]

    def pieces(self, content: ScenarioContent, turns: Sequence[Turn]) -> list[Written]:
        """Requests for a note on each part of these turns, as few as the window allows; none for turns that the tutor
        was never shown."""
        remembered = [self._clipped(turn, content) for turn in turns if turn.is_remembered]
        return [
            self._written(piece_messages(part, content.locale, note_tokens=self._note, rules=self._rules), tuple(part))
            for part in self._parts(remembered, content)
        ]

    def joining(self, content: ScenarioContent, partials: Sequence[str]) -> Written | None:
        """The request for one note made of partial ones; nothing where one is all there is."""
        clean = [text for partial in partials if (text := self._clean(partial, self._note))]
        while len(clean) > 1:
            messages = join_messages(clean, content.locale, note_tokens=self._note, rules=self._rules)
            written = self._written(messages, ())
            if written.max_tokens == self._note:
                return written
            clean = clean[::2]  # a window so small that half of the notes must do
        return None

    def text(self, turns: Sequence[Turn], written: str, *, limit: int) -> str | None:
        """A note of the turns' key facts and of what the model wrote, of `limit` tokens at most; nothing when what it
        wrote is of no use."""
        prose_share = self._note - int(self._note * _FACTS_SHARE)
        facts = self._facts(turns, limit - prose_share, with_unremarkable=False)
        taken = self._ruler.count(facts + "\n") if facts else 0
        prose = self._clean(written, min(limit - taken, max(self._note - taken, prose_share)))
        if not prose:
            return None
        return self._whole(f"{facts}\n{prose}".strip(), limit) or None

    def extract(self, content: ScenarioContent, turns: Sequence[Turn], *, limit: int) -> str:
        """A note of `limit` tokens at most, made of sentences of the turns alone; always the same for the same turns,
        and never empty."""
        facts = self._whole(self._facts(turns, limit, with_unremarkable=True), limit)
        return facts or nothing_kept(turns, content.locale)

    def _facts(self, turns: Sequence[Turn], limit: int, *, with_unremarkable: bool) -> str:
        rules = FactRules(self._rules, self._ruler.count, limit, with_unremarkable)
        return key_facts(turns, rules)

    def _clean(self, text: str, limit: int) -> str:
        most = text[: limit * MOST_CHARACTERS_PER_TOKEN]
        return bounded(checked_text(unmarked(most), self._rules), limit=limit, count=self._ruler.count)

    def _whole(self, text: str, limit: int) -> str:
        """Checked once more as it will stand: two innocent lines may say together what neither says alone."""
        lines = checked_text(text, self._rules).split("\n")
        while lines and self._ruler.count("\n".join(lines)) > limit:
            lines.pop()
        return "\n".join(lines)

    def _parts(self, turns: Sequence[Turn], content: ScenarioContent) -> Iterator[list[Turn]]:
        part: list[Turn] = []
        for turn in turns:
            if part and not self._fits([*part, turn], content):
                yield part
                part = []
            part.append(turn)
        if part:
            yield part

    def _fits(self, part: Sequence[Turn], content: ScenarioContent) -> bool:
        lines = sum(self._ruler.stable(transcript_line(turn, content.locale, self._rules) + "\n") for turn in part)
        return lines <= self._transcript_room(content)

    def _transcript_room(self, content: ScenarioContent) -> int:
        ask = asking(content.locale, note_tokens=self._note)
        around = 2 * (self._ruler.stable(ask) + self._rules.message_overhead) + MARGIN_TOKENS
        return self._ruler.shares.window - self._note - around

    def _clipped(self, turn: Turn, content: ScenarioContent) -> Turn:
        """A turn that outgrows a whole request is shown by its beginning."""
        while (turn.text or turn.reply) and not self._fits([turn], content):
            turn = replace(turn, text=turn.text[: len(turn.text) // 2], reply=turn.reply[: len(turn.reply) // 2])
        return turn

    def _written(self, messages: Sequence[Message], remembered: tuple[Turn, ...]) -> Written:
        size = self._ruler.counter.count_prompt(messages)
        return Written(Prompt(tuple(messages), remembered), size, min(self._note, self._ruler.shares.window - size))
