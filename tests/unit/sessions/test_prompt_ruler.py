"""What the plan of folds is told agrees with the prompts that are written."""

from dataclasses import dataclass, replace
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.history import History, history
from sessions.domain.note import Note, NoteMaker
from sessions.domain.prompt import before_message, current_message, first_scene, pinned_messages, scenes_change
from sessions.domain.turn import Turn, TurnState
from sessions.prompt_ruler import MARGIN_TOKENS, PromptRuler
from tests.support.session_fakes import SHARES, START, WordCounter, a_session, content

SESSION = a_session()
CONTENT = content()
OVERHEAD = WordCounter.message_overhead
STEPS = st.lists(
    st.tuples(st.integers(1, 20), st.integers(0, 20), st.sampled_from(["", "complaint", "agreement"])), max_size=12
)


def ruler() -> PromptRuler:
    return PromptRuler(model="fake", counter=WordCounter(), shares=SHARES)


def pinned_tokens(scene: str) -> int:
    return WordCounter().count_prompt(pinned_messages(CONTENT, scene, ruler().rules))


def turns(steps: list[tuple[int, int, str]]) -> list[Turn]:
    return [
        Turn(
            *(SESSION.id, number, TurnState.COMPLETED, "m " * message, "r " * reply, START, START, message, reply),
            scene=scene,
        )
        for number, (message, reply, scene) in enumerate(steps, start=1)
    ]


def notes(to_turn: int) -> list[Note]:
    return [Note(SESSION.id, 1, 1, to_turn, "n " * 30, 30, NoteMaker.TUTOR, 1, START)] if to_turn else []


@given(STEPS, st.integers(0, 12), st.sampled_from(["complaint", "agreement"]))
def test_what_is_measured_is_what_is_written(steps: list[tuple[int, int, str]], folded: int, scene: str) -> None:
    session = replace(SESSION, scene=scene)
    known = history(notes(min(folded, len(steps))), turns(steps))
    tail = ruler().tail(session, CONTENT, known)
    rules = ruler().rules
    before = before_message(CONTENT, scene, known, rules)
    current = current_message(CONTENT, scenes_change(CONTENT, scene, before.remembered)[-1], "now " * 9, rules)
    size = WordCounter().count_prompt((*before.messages, current))
    pinned = pinned_tokens(first_scene(CONTENT, scene, known.remembered))
    record = 0
    if known.notes and known.bridge:
        record = WordCounter().count_text(before.messages[2].content) + OVERHEAD
    assert pinned + record + tail.used(0) + 9 + OVERHEAD == size
    assert tail.free(0) == tail.room - pinned


def test_room_is_what_the_shares_leave() -> None:
    tail = ruler().tail(SESSION, CONTENT, History())
    assert tail.room == SHARES.window - SHARES.reply - MARGIN_TOKENS - SHARES.record
    looking = content(knowledge_base=KnowledgeBaseId(uuid4()))
    assert ruler().tail(SESSION, looking, History()).room == tail.room - SHARES.knowledge
    long = replace(notes(1)[0], text="n " * 900, tokens=900)
    assert ruler().tail(SESSION, CONTENT, history([long], turns([(1, 1, "")]))).room < tail.room


def test_first_and_last_count_every_turn() -> None:
    known = history(notes(2), turns([(1, 1, ""), (1, 1, ""), (1, 0, ""), (1, 1, ""), (1, 0, "")]))
    tail = ruler().tail(SESSION, CONTENT, known)
    assert (tail.first, tail.last, [one.number for one in tail.turns]) == (3, 5, [4])
    folded = ruler().tail(SESSION, CONTENT, history(notes(2), turns([(1, 1, ""), (1, 1, "")])))
    assert (folded.first, folded.last, folded.turns) == (3, 2, ())


def test_stored_counts_are_of_one_model_only() -> None:
    light = [replace(one, text_tokens=0, reply_tokens=0) for one in turns([(7, 9, "")])]
    own = ruler().tail(SESSION, CONTENT, history([], light)).turns[0]
    assert (own.message, own.reply) == (OVERHEAD, OVERHEAD)
    foreign = history([], [replace(light[0], model="other")])
    counted = ruler().tail(SESSION, CONTENT, foreign).turns[0]
    assert (counted.message, counted.reply) == (7 + OVERHEAD, 9 + OVERHEAD)
    same = history([], [replace(light[0], model="fake")])
    assert ruler().tail(SESSION, CONTENT, same).turns[0] == own


@dataclass
class Tally(WordCounter):
    """How often something was counted."""

    asked: int = 0

    @override
    def count_text(self, text: str) -> int:
        self.asked += 1
        return super().count_text(text)


def test_what_stays_the_same_is_counted_once() -> None:
    counter = Tally()
    of_tally = PromptRuler(model="fake", counter=counter, shares=SHARES)
    known = history(notes(1), turns([(3, 3, ""), (3, 3, "agreement"), (3, 3, "")]))
    of_tally.tail(SESSION, CONTENT, known)
    before = counter.asked
    assert before > 0
    of_tally.tail(SESSION, CONTENT, known)
    assert counter.asked == before


def test_the_longest_script_decides_what_is_pinned_at_most() -> None:
    assert ruler().longest_pinned(CONTENT) == max(pinned_tokens(scene.name) for scene in CONTENT.scenes)


def test_a_text_that_is_far_too_long_is_counted_as_over_the_limit() -> None:
    assert ruler().count_up_to(5, "a b c") == 3
    assert ruler().count_up_to(5, "a" * 1000) == 6
    assert ruler().reply_tokens(content(max_reply_tokens=7)) == 7
    assert ruler().knowledge_tokens(CONTENT) == 0
