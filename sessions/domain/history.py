"""What the tutor can be told of a session: its notes, and the turns behind them.

A history grows turn by turn and note by note, and is at every moment what the records would give anew: a lost working
set costs nothing but the reading.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sessions.domain.judging_words import is_suspicious
from sessions.domain.note import Note, folded_to, live_notes
from sessions.domain.sentences import sentences
from sessions.domain.turn import Turn, TurnState


@dataclass(frozen=True, slots=True)
class History:
    notes: tuple[Note, ...] = ()
    """The live notes, by their turns."""
    turns: tuple[Turn, ...] = ()
    """Every turn behind the notes, also those that the tutor is not shown, by number."""
    bridge: str = ""
    """The reply of the last remembered turn that the notes cover, without what judges the exercise or gives orders."""
    played: int = 0
    """Turns of the whole session that did not fail."""
    last_replica: str | None = None
    """Where the session's last turn ran; one whose message was blocked ran nowhere."""

    @property
    def remembered(self) -> tuple[Turn, ...]:
        """The turns that stand in the prompt word for word."""
        return tuple(turn for turn in self.turns if turn.is_remembered)

    @property
    def last_turn(self) -> int:
        """The number of the session's last turn; 0 before the first."""
        return self.turns[-1].number if self.turns else self.folded_to

    @property
    def folded_to(self) -> int:
        """The number of the last turn that the notes cover; 0 without any."""
        return folded_to(self.notes)


def history(notes: Iterable[Note], turns: Sequence[Turn]) -> History:
    """From everything in the records: all notes in any order, all turns by number."""
    live = live_notes(notes)
    covered = [turn for turn in turns if turn.number <= folded_to(live)]
    return History(
        notes=live,
        turns=tuple(turns[len(covered) :]),
        bridge=_bridge(covered, before=""),
        played=sum(_is_played(turn) for turn in turns),
        last_replica=next((turn.replica for turn in reversed(turns) if turn.replica is not None), None),
    )


def with_turn(before: History, turn: Turn) -> History:
    """The history once the session's next turn is written."""
    return replace(
        before,
        turns=(*before.turns, turn),
        played=before.played + _is_played(turn),
        last_replica=before.last_replica if turn.replica is None else turn.replica,
    )


def with_note(before: History, note: Note) -> History:
    """The history once the session's next note is written."""
    live = live_notes((*before.notes, note))
    covered = [turn for turn in before.turns if turn.number <= folded_to(live)]
    return replace(
        before,
        notes=live,
        turns=before.turns[len(covered) :],
        bridge=_bridge(covered, before=before.bridge),
    )


def _bridge(covered: Sequence[Turn], *, before: str) -> str:
    return next((_innocent(turn.reply) for turn in reversed(covered) if turn.is_remembered), before)


def _innocent(reply: str) -> str:
    """What a note may not hold must not outlive its turn beside one either; where nothing else was said, silence."""
    found = sentences(reply)
    kept = [sentence for sentence in found if not is_suspicious(sentence)]
    return reply if kept == found else " ".join(kept) or "…"


def _is_played(turn: Turn) -> bool:
    return turn.state is not TurnState.FAILED
