"""Prompts as the model sees them: the layout, what is left open to be continued, and a real tokenizer's ids."""

from pathlib import Path

import pytest

from loadtests.simulator.domain.replies import Said
from loadtests.simulator.errors import Refused
from loadtests.simulator.vocabulary import FolderVocabulary, PackedVocabulary, Vocabulary, chat_text, vocabulary_of
from tests.support.tiny_model import tiny_model

USER, ASSISTANT = Said("user", "Where is it?"), Said("assistant", "It is in ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(params=["packed", "folder"])
def words(request: pytest.FixtureRequest, folder: Path) -> Vocabulary:
    return vocabulary_of(None if request.param == "packed" else folder)


@pytest.mark.parametrize("text", ["Hello world", "你好，世界 🙂🎉", "a\n\n b", "<|im_start|>user"])
def test_ids_give_the_text_back_and_its_pieces_add_up(words: Vocabulary, text: str) -> None:
    assert words.decode(words.encode(text)) == text
    assert "".join(token.text for token in words.tokens(text)) == text
    assert [token.id for token in words.tokens(text)] == words.encode(text)


def test_a_message_ends_with_the_end_token(words: Vocabulary) -> None:
    assert words.encode(words.render([USER], for_reply=False).rstrip("\n"))[-1] == words.end


def test_a_reply_is_asked_for_after_the_last_message(words: Vocabulary) -> None:
    text = chat_text(words, [USER], add_generation_prompt=True, continue_final_message=False)
    assert text.endswith("assistant\n")


def test_a_message_that_is_continued_stays_open_with_its_last_space(words: Vocabulary) -> None:
    text = chat_text(words, [USER, ASSISTANT], add_generation_prompt=False, continue_final_message=True)
    assert text.endswith("assistant\nIt is in ")


def test_an_empty_message_can_be_continued(words: Vocabulary) -> None:
    text = chat_text(words, [USER, Said("assistant", "")], add_generation_prompt=False, continue_final_message=True)
    assert text.endswith("assistant\n")


@pytest.mark.parametrize(("conversation", "asks"), [([], False), ([USER], True)])
def test_what_cannot_be_a_prompt_is_refused(words: Vocabulary, conversation: list[Said], asks: bool) -> None:
    with pytest.raises(Refused):
        chat_text(words, conversation, add_generation_prompt=True, continue_final_message=asks)


def test_the_next_turn_begins_with_what_was_said(words: Vocabulary) -> None:
    """Otherwise nothing of a reply would ever come from the cache."""
    prompt = words.encode(words.render([USER], for_reply=True))
    reply = [token.id for token in words.tokens("It is here, 在这里 🙂.")]
    said = [USER, Said("assistant", "It is here, 在这里 🙂."), Said("user", "Thanks")]
    following = words.encode(words.render(said, for_reply=True))
    assert following[: len(prompt) + len(reply) + 1] == [*prompt, *reply, words.end]


def test_half_a_character_is_refused(words: Vocabulary) -> None:
    with pytest.raises(Refused, match="TextEncodeInput"):
        words.encode("a\ud83d")


def test_tokens_have_names_and_strangers_are_known_as_such(folder: Path) -> None:
    packed, real = PackedVocabulary(), FolderVocabulary(folder)
    assert packed.name_of(packed.encode(" am")[0]) == " am"
    assert real.name_of(real.end) == "<|im_end|>"
    assert (real.name_of(9_999_999), real.knows(9_999_999), real.knows(-1), real.knows(real.end)) == (
        "",
        False,
        False,
        True,
    )
    assert packed.knows(3)


def test_a_template_that_raises_is_refused_with_its_words(folder: Path, tmp_path: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "chat_template.jinja").write_text("{{ raise_exception('Roles must alternate') }}")
    with pytest.raises(Refused, match="Roles must alternate"):
        FolderVocabulary(tmp_path).render([USER], for_reply=True)
