"""A reply that was begun elsewhere is gone on with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.continuing import Opened, opened_by, reopened, tokens_after
from loadtests.simulator.domain.packed_tokens import tokens_of
from loadtests.simulator.domain.replies import Said
from loadtests.simulator.vocabulary import PackedVocabulary

TALK = (Said("system", "Be\nkind."), Said("user", "Hello 🙂"))
words = st.text(st.characters(exclude_characters="<|>\n", exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize("begun", ["", "Good", "Good day,\n"])
def test_a_rendered_chat_is_read_back(begun: str) -> None:
    prompt = PackedVocabulary().render(TALK, for_reply=True) + begun
    assert opened_by(prompt) == Opened(TALK, begun)


@pytest.mark.parametrize(
    "prompt",
    [
        "Once upon a time",
        "",
        "And then: <|im_start|>assistant\n",
        PackedVocabulary().render(TALK, for_reply=False),
        PackedVocabulary().render([*TALK, Said("assistant", "Bye.")], for_reply=False),
    ],
)
def test_any_other_text_is_none(prompt: str) -> None:
    assert opened_by(prompt) is None


def test_a_final_message_of_the_model_itself_is_the_beginning_of_its_reply() -> None:
    begun = [*TALK, Said("assistant", "Good")]
    assert reopened(begun, continues=True) == Opened(TALK, "Good")
    assert reopened(begun, continues=False) == Opened(tuple(begun))
    assert reopened(TALK, continues=True) == Opened(TALK)
    assert reopened((), continues=True) == Opened(())


@given(st.lists(words, min_size=1).map(" ".join), st.data())
def test_what_was_said_and_what_follows_are_the_whole(reply: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(reply)))
    rest = tokens_after(tokens_of(reply), reply[:place])
    assert rest is not None
    tokens, middle = rest
    assert reply[:place] + middle + "".join(token.text for token in tokens) == reply


@pytest.mark.parametrize("begun", ["Bad", "Good day to you, sir", "Good daz"])
def test_words_that_are_not_its_own_are_noticed(begun: str) -> None:
    assert tokens_after(tokens_of("Good day to you"), begun) is None
