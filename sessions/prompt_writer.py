"""Writes prompts for one served model: its tokenizer, its window, and the shares of each block."""

import hashlib

from sessions.domain import compaction
from sessions.domain.budget import SYSTEM_TOKENS, Shares, with_knowledge
from sessions.domain.citation import NO_BACKGROUND, Background
from sessions.domain.compaction import Fold, Marks, Merge
from sessions.domain.context import Block, BlockKind, Context
from sessions.domain.folded_text import is_blank
from sessions.domain.frames import background_frame
from sessions.domain.history import History
from sessions.domain.prompt import (
    Message,
    Prompt,
    before_message,
    current_message,
    first_scene,
    pinned_messages,
    record_messages,
    record_text,
    scene_script,
    scenes_change,
)
from sessions.domain.scenario import ScenarioContent, sized, system_block
from sessions.domain.session import Session
from sessions.errors import TextEmpty, TextTooLong
from sessions.note_writer import NoteWriter
from sessions.ports import TokenCounter
from sessions.prompt_ruler import PromptRuler
from sessions.written import Written


class PromptWriter:
    def __init__(self, *, model: str, counter: TokenCounter, shares: Shares, marks: Marks | None = None) -> None:
        self._model = model
        self._counter = counter
        self._shares = shares
        self._marks = marks or Marks()
        self._ruler = PromptRuler(model=model, counter=counter, shares=shares)
        self._rules = self._ruler.rules
        self.notes = NoteWriter(self._ruler)
        """What asks this model for notes, and makes them."""

    @property
    def window_tokens(self) -> int:
        return self._shares.window

    def checked(self, content: ScenarioContent) -> ScenarioContent:
        """The content, if its blocks keep to their shares and leave enough for the talk; raises `ScenarioInvalid` with
        the counts otherwise."""
        longest = max(SYSTEM_TOKENS, self._shares.script, self._shares.opening)
        sound = sized(content, self._shares.blocks, lambda text: self._ruler.count_up_to(longest, text))
        if sound.knowledge_base is not None:
            pinned, reply = self._ruler.longest_pinned(sound), self._ruler.reply_tokens(sound)
            with_knowledge(self._shares, pinned=pinned, reply=reply)
        return sound

    def count(self, text: str) -> int:
        """Tokens of a text as it stands in a prompt."""
        return self._ruler.count(text)

    def message_tokens(self, text: str) -> int:
        """Tokens of a trainee's message; raises `TextEmpty` or `TextTooLong`."""
        if not text.strip():
            raise TextEmpty("the message is empty")
        tokens = self._ruler.count_up_to(self._shares.message, text)
        if tokens > self._shares.message:
            raise TextTooLong(tokens=tokens, limit=self._shares.message)
        if is_blank(text):
            raise TextEmpty("the message holds nothing that can be seen")
        return tokens

    def write(
        self,
        session: Session,
        content: ScenarioContent,
        history: History,
        text: str,
        background: Background = NO_BACKGROUND,
    ) -> Written:
        """The prompt for `text`, without the background where both have no room; raises `TextEmpty` or
        `TextTooLong`."""
        self.message_tokens(text)
        reply = self._ruler.reply_tokens(content)
        before = before_message(content, session.scene, history, self._rules)
        prompt = self._asked(before, session, content, text, background)
        size = self._counter.count_prompt(prompt.messages)
        left = self._shares.window - size
        if left < reply and background.text:
            return self.write(session, content, history, text)
        if left < 1:
            raise TextTooLong(tokens=size, limit=self._shares.window - 1)
        return Written(prompt, size, min(reply, left), background)

    def due(self, session: Session, content: ScenarioContent, history: History) -> Fold | None:
        """What is to be folded before the next message comes; nothing when none will come, nor while notes are to be
        merged first."""
        if not session.is_open or history.played >= content.max_turns or self._outgrown(history):
            return None
        left = content.max_turns - history.played
        return compaction.due(self._ruler.tail(session, content, history), self._marks, left=left)

    def overdue(self, session: Session, content: ScenarioContent, history: History, text: str) -> Fold | None:
        """What must be folded now so that `text` has room; its turns come from the records, for some may be folded
        already. Raises `TextEmpty` or `TextTooLong`."""
        message = self.message_tokens(text) + self._rules.message_overhead
        fold = compaction.overdue(self._ruler.tail(session, content, history), self._marks, message)
        if fold is not None and self._outgrown(history):
            return Fold(history.notes[0].from_turn, fold.to_turn)
        return fold

    def merge_due(self, content: ScenarioContent, history: History) -> Merge | None:
        """Which notes are to become one before the next note comes."""
        if history.played >= content.max_turns:
            return None
        return compaction.merge_due(history.notes, note_tokens=self._shares.note, share=self._shares.summary)

    def note_limit(self, history: History, span: Fold | Merge) -> int:
        """The most tokens of the note that is made of these turns now."""
        shares = self._shares
        return compaction.note_limit(history.notes, span, note_tokens=shares.note, share=shares.summary)

    def beginning(self, content: ScenarioContent) -> tuple[Message, ...]:
        """What stands before the first message of every session that begins with this version of the scenario."""
        return pinned_messages(content, content.scenes[0].name, self._rules)

    def prefix(self, session: Session, content: ScenarioContent, history: History) -> Written:
        """What stands before the next message, to have it ready."""
        before = before_message(content, session.scene, history, self._rules)
        return Written(before, self._counter.count_prompt(before.messages), 1)

    def knowledge_room(self, session: Session, content: ScenarioContent, history: History, text: str) -> int:
        """Tokens that background may take before `text`; 0 without a knowledge base."""
        share = self._ruler.knowledge_tokens(content)
        tail = self._ruler.tail(session, content, history)
        message = self._ruler.count_up_to(self._shares.message, text) + self._rules.message_overhead
        free = share + tail.free(0) - tail.used(0) - message
        frame = self._ruler.stable(background_frame("", content.locale))
        return max(0, min(share, free) - frame)

    def explain(self, session: Session, content: ScenarioContent, history: History) -> Context:
        """What stands before the next message."""
        before = before_message(content, session.scene, history, self._rules)
        tail = self._ruler.tail(session, content, history)
        room = tail.free(0) - tail.used(0) - self._rules.message_overhead
        return Context(
            session=session.id,
            model=self._model,
            window_tokens=self._shares.window,
            reply_tokens=self._ruler.reply_tokens(content),
            prompt_tokens=self._counter.count_prompt(before.messages),
            available_tokens=max(0, min(self._shares.message, room)),
            blocks=self._blocks(session, content, history, before),
            messages=before.messages,
            summary=record_text(content, history, self._rules),
            notes=history.notes,
            prompt_sha256=before.digest,
            counted_by=self._counter.counted_by,
        )

    def _asked(
        self, before: Prompt, session: Session, content: ScenarioContent, text: str, background: Background
    ) -> Prompt:
        change = scenes_change(content, session.scene, before.remembered)[-1]
        current = current_message(content, change, text, self._rules, background=background.text)
        return Prompt((*before.messages, current), before.remembered)

    def _outgrown(self, history: History) -> bool:
        """Whether the notes leave no room for one more."""
        notes = history.notes
        return len(notes) > 1 and compaction.outgrown(notes, note_tokens=self._shares.note, share=self._shares.summary)

    def _blocks(
        self, session: Session, content: ScenarioContent, history: History, before: Prompt
    ) -> tuple[Block, ...]:
        scene = first_scene(content, session.scene, before.remembered)
        texts = (
            (BlockKind.SYSTEM, system_block(content)),
            (BlockKind.SCRIPT, scene_script(content, scene)),
            (BlockKind.OPENING, content.opening.strip()),
        )
        clean = ((kind, self._rules.harmless(text)) for kind, text in texts)
        pinned = [Block(kind, self._ruler.stable(text), _sha256(text)) for kind, text in clean]
        return (*pinned, *self._summary(content, history), *self._tail(before), *self._reserve(content))

    def _summary(self, content: ScenarioContent, history: History) -> list[Block]:
        """Its tokens with the reply that bridges over to the turns, and the template's around both."""
        messages = record_messages(content, history, self._rules)
        if not messages:
            return []
        overhead = self._rules.message_overhead
        tokens = sum(self._ruler.stable(message.content) + overhead for message in messages)
        return [Block(BlockKind.SUMMARY, tokens, _sha256(messages[0].content), 1, history.folded_to)]

    def _tail(self, before: Prompt) -> list[Block]:
        """Its tokens with the template's around each message."""
        if not before.remembered:
            return []
        first = len(before.messages) - 2 * len(before.remembered)
        head, tail = before.messages[:first], before.messages[first:]
        tokens = self._counter.count_prompt(before.messages) - self._counter.count_prompt(head)
        digest = _sha256("\n".join(message.content for message in tail))
        return [Block(BlockKind.TURNS, tokens, digest, before.remembered[0].number, before.remembered[-1].number)]

    def _reserve(self, content: ScenarioContent) -> list[Block]:
        """What the background of the next message may take; which text it is, nobody knows before."""
        tokens = self._ruler.knowledge_tokens(content)
        return [Block(BlockKind.KNOWLEDGE, tokens, _sha256(""))] if tokens else []


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
