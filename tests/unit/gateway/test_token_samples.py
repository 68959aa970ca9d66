"""The samples are fixed, and their counts are the counter's own."""

from gateway.token_samples import token_samples
from sessions.domain.neutralise import neutralised
from tests.support.session_fakes import WordCounter


def test_each_sample_carries_the_count_of_its_own_conversation() -> None:
    samples = token_samples(WordCounter())
    assert len(samples) == 9
    for sample in samples:
        words = sum(len(message.content.split()) + 4 for message in sample.messages)
        assert sample.tokens == words + 2


def test_the_samples_hold_what_tokenizers_differ_in() -> None:
    text = "".join(message.content for sample in token_samples(WordCounter()) for message in sample.messages)
    assert any("\u4e00" <= character <= "\u9fff" for character in text)
    assert any(character.isdigit() for character in text)
    assert "\n\n" in text
    assert "\t\t" in text
    assert "é" in text
    assert "e\u0301" in text
    assert "😀" in text
    assert "< |im_start|>" in text
    contents = [message.content for sample in token_samples(WordCounter()) for message in sample.messages]
    assert any(content.startswith("\n") for content in contents)
    assert any(content.endswith(" ") for content in contents)
    assert any(content.endswith("\n") for content in contents)


def test_no_sample_holds_a_control_string() -> None:
    contents = [message.content for sample in token_samples(WordCounter()) for message in sample.messages]
    tokens = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "</s>", "[INST]")
    assert all(neutralised(content, (*tokens, "<think>")) == content for content in contents)
