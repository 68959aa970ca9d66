"""The shapes are recorded; here is what the numbers promise: an order, and the same again."""

from loadtests.simulator.logprobs import chat_logprobs, completion_logprobs, prompt_logprobs
from loadtests.simulator.vocabulary import PackedVocabulary

WORDS = PackedVocabulary()
TOKENS = WORDS.tokens("One two")


def test_a_chat_names_the_chosen_token_first() -> None:
    content = chat_logprobs(TOKENS, WORDS, top=3)["content"]
    assert isinstance(content, list)
    for entry, token in zip(content, TOKENS, strict=True):
        best = entry["top_logprobs"]
        assert (entry["token"], best[0]["token"], len(best)) == (token.text, token.text, 3)
        assert [one["logprob"] for one in best] == sorted((one["logprob"] for one in best), reverse=True)


def test_none_beside_the_chosen_one_are_told_when_none_are_asked_for() -> None:
    assert "'top_logprobs': []" in str(chat_logprobs(TOKENS, WORDS, top=0))


def test_a_completion_tells_where_each_token_stands() -> None:
    told = completion_logprobs(TOKENS, WORDS, top=1, offset=10)
    assert (told["tokens"], told["text_offset"]) == (["One", " two"], [10, 13])


def test_the_first_token_of_a_prompt_has_no_chance() -> None:
    prompt = WORDS.encode("One two")
    assert prompt_logprobs(prompt, WORDS)[0] is None
    assert len(prompt_logprobs(prompt, WORDS)) == len(prompt)
    assert prompt_logprobs(prompt, WORDS) == prompt_logprobs(prompt, WORDS)
