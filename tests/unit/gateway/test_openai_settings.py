import pytest
from pydantic import ValidationError

from gateway.domain.openai_parameters import FORWARDED
from gateway.openai_settings import OpenAiSettings


def test_the_defaults_are_a_policy() -> None:
    policy = OpenAiSettings().policy
    assert policy.forwarded == frozenset(FORWARDED)
    assert policy.reply_tokens == 2048


def test_the_list_may_be_another_one() -> None:
    chosen = OpenAiSettings.model_validate({"parameters": ["top_k", "seed"], "reply_tokens": 5})
    assert chosen.policy.forwarded == {"top_k", "seed"}


@pytest.mark.parametrize("name", ["cache_salt", "n", "frobnicate", "prompt_logprobs"])
def test_what_may_never_be_forwarded_cannot_be_set(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        OpenAiSettings.model_validate({"parameters": [name]})
