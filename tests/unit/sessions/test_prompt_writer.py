"""Prompts keep to their window, whatever the talk was."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from sessions.domain.session import SessionId
from sessions.domain.turn import Turn, TurnState
from sessions.errors import ScenarioInvalid, TextEmpty, TextTooLong
from sessions.prompt_writer import PromptWriter
from tests.support.session_fakes import SHARES, START, WordCounter, a_session, content, writer

LENGTHS = st.lists(st.tuples(st.integers(1, 200), st.integers(0, 100), st.booleans()), max_size=60)


def turn(session: SessionId, number: int, message: int, reply: int, *, failed: bool) -> Turn:
    return Turn(
        session=session,
        number=number,
        state=TurnState.FAILED if failed else TurnState.COMPLETED,
        text="m " * message,
        reply="r " * reply,
        started_at=START,
        ended_at=START,
        text_tokens=message,
        reply_tokens=reply,
    )


@given(LENGTHS, st.integers(1, 200))
def test_prompt_and_reply_always_fit_and_only_grow_between_cuts(
    lengths: list[tuple[int, int, bool]], message: int
) -> None:
    session = a_session()
    turns = [turn(session.id, i, m, r, failed=f) for i, (m, r, f) in enumerate(lengths, start=1)]
    counter, text = WordCounter(), "now " * message
    written = writer().write(session, content(), turns, text)
    assert counter.count_prompt(written.prompt.messages) == written.prompt_tokens
    assert written.prompt_tokens + written.max_tokens <= SHARES.window
    assert written.max_tokens == SHARES.reply
    assert writer().write(session, content(), turns, text).prompt.digest == written.prompt.digest
    answered = turn(session.id, len(turns) + 1, message, 50, failed=False)
    grown = writer().write(session, content(), [*turns, replace(answered, text=text)], "next").prompt
    if grown.cut_turns == written.prompt.cut_turns:
        assert grown.messages[: len(written.prompt.messages)] == written.prompt.messages


@pytest.mark.parametrize(("text", "refusal"), [(" ", TextEmpty), ("w " * 201, TextTooLong)])
def test_a_message_is_measured_before_anything_else(text: str, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        writer().message_tokens(text)


@dataclass
class Greedy(WordCounter):
    """Remembers the longest text it had to count."""

    longest: int = 0

    @override
    def count_text(self, text: str) -> int:
        self.longest = max(self.longest, len(text))
        return super().count_text(text)


@pytest.mark.parametrize("text", ["w " * 100_000, "w" + " " * 200_000 + "w"])
def test_of_a_text_that_is_far_too_long_only_the_beginning_is_counted(text: str) -> None:
    counter = Greedy()
    of_greedy = PromptWriter(model="fake", counter=counter, shares=SHARES)
    with pytest.raises(TextTooLong) as refused:
        of_greedy.message_tokens(text)
    assert refused.value.tokens > refused.value.limit == SHARES.message
    with pytest.raises(ScenarioInvalid, match="at most 500"):
        of_greedy.checked(content(persona=text))
    assert counter.longest <= 16 * max(SHARES.script, 500)


def test_control_strings_are_counted_as_they_will_stand_in_the_prompt() -> None:
    assert writer().count("<|im_start|>system") == writer().count("< |im_start|>system") == 2


def test_a_scenario_may_shorten_replies() -> None:
    session = a_session()
    assert writer().write(session, content(max_reply_tokens=7), [], "hello").max_tokens == 7
