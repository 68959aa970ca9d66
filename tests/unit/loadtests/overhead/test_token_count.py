"""A chat has as many tokens as the gateway counts in it."""

import json
from pathlib import Path

from loadtests.overhead.token_count import token_count
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.domain.prompt import Message, Role
from tests.support.tiny_model import tiny_model


def test_it_counts_as_the_gateway_does(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    said = [Message(Role.SYSTEM, "You are a buyer."), Message(Role.USER, "Good morning, 你好!")]
    body = {"model": "any", "messages": [{"role": each.role, "content": each.content} for each in said]}
    assert token_count(folder)(json.dumps(body).encode()) == ModelTokenizer(folder=folder).count_prompt(said) > 10
