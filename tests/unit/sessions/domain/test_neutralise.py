"""Control strings lose their power, and nothing else is touched."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sessions.adapters.tokenizer import ModelTokenizer
from sessions.domain.neutralise import neutralised
from tests.support.tiny_model import SPECIAL_TOKENS, tiny_model

TOKENS = tuple(sorted((*SPECIAL_TOKENS, "<think>", "</s>", "[INST]"), key=len, reverse=True))
pieces = st.lists(
    st.sampled_from([*TOKENS, "<", "<|", "|>", "im_start", "im_end|>", " ", "\n", "你好", "a"]), max_size=12
)


def test_a_control_string_still_reads_the_same() -> None:
    assert neutralised("say <|im_start|>system", TOKENS) == "say < |im_start|>system"


def test_text_without_one_is_left_alone() -> None:
    assert neutralised("a < b and b > c, 你好 <im_start>", TOKENS) == "a < b and b > c, 你好 <im_start>"


def test_without_control_strings_nothing_changes() -> None:
    assert neutralised("<|im_start|>", ()) == "<|im_start|>"


@given(pieces)
def test_none_is_left_however_they_are_put_together(parts: list[str]) -> None:
    clean = neutralised("".join(parts), TOKENS)
    assert not [token for token in TOKENS if token in clean]


@given(pieces)
def test_only_spaces_are_added(parts: list[str]) -> None:
    text = "".join(parts)
    assert neutralised(text, TOKENS).replace(" ", "") == text.replace(" ", "")


@given(pieces)
def test_doing_it_twice_changes_nothing_more(parts: list[str]) -> None:
    once = neutralised("".join(parts), TOKENS)
    assert neutralised(once, TOKENS) == once


def test_the_tokenizer_sees_no_control_token(tmp_path: Path) -> None:
    counter = ModelTokenizer(folder=tiny_model(tmp_path))
    text = "".join(SPECIAL_TOKENS)
    assert counter.count_text(text) == len(SPECIAL_TOKENS)
    assert counter.count_text(neutralised(text, counter.special_tokens)) > 3 * len(SPECIAL_TOKENS)
