"""The scripted engine is as the recorded one, or what is tested with it proves nothing."""

import json
from pathlib import Path

import httpx
import pytest

from tests.support.engine_process import EngineProcess, scripted_engine
from tests.support.scripted_tokens import PrefixCache, RealTokens, Words
from tests.support.tiny_model import tiny_model

RECORDINGS = Path(__file__).parents[2] / "unit" / "router" / "domain" / "recordings"
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "你好 there"}]


def shape(value: object) -> object:
    """The names in a JSON value, and nulls, without what else it says."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return None if value is None else "…"


def shapes(stream: str) -> list[object]:
    events = [event.removeprefix("data: ") for event in stream.split("\n\n") if event]
    return [event if event == "[DONE]" else shape(json.loads(event)) for event in events]


def ask(engine: EngineProcess, **fields: object) -> str:
    options = {"stream": True, "stream_options": {"include_usage": True}, "messages": CHAT, **fields}
    return httpx.post(f"{engine.url}/v1/chat/completions", json=options, trust_env=False).text


def test_a_whole_reply_looks_as_recorded(engine: EngineProcess) -> None:
    engine.script(reply="The capital of France is Paris .")
    assert shapes(ask(engine)) == shapes((RECORDINGS / "chat_stream_usage.sse").read_text())


def test_a_reply_cut_by_its_limit_looks_as_recorded(engine: EngineProcess) -> None:
    engine.script(reply="The capital of France is Paris .")
    assert shapes(ask(engine, max_tokens=3)) == shapes((RECORDINGS / "chat_stream_length.sse").read_text())


def test_another_conversation_gets_another_reply_and_the_same_one_the_same(engine: EngineProcess) -> None:
    def reply(messages: list[dict[str, str]]) -> str:
        answer = httpx.post(f"{engine.url}/v1/chat/completions", json={"messages": messages}, trust_env=False).json()
        return str(answer["choices"][0]["message"]["content"])

    assert reply(CHAT) == reply(CHAT)
    assert reply(CHAT) != reply(CHAT[1:])


def test_a_scripted_reply_may_depend_on_the_last_message(engine: EngineProcess) -> None:
    engine.script(replies=[["there", "Here."]], reply="Else.")
    assert "Here" in ask(engine)
    assert "Else" in ask(engine, messages=CHAT[:1])


def test_a_fault_may_hit_a_number_of_requests(engine: EngineProcess) -> None:
    engine.script(fault="refuse", times=2)
    assert ["overloaded" in ask(engine) for _ in range(3)] == [True, True, False]


def test_the_next_turn_finds_prompt_and_reply_in_the_cache() -> None:
    words, cache = Words(), PrefixCache()
    first = [{"role": "user", "content": "word " * 40}]
    grown = [*first, {"role": "assistant", "content": "reply " * 40}]
    cache.remember("salt", words.prompt(grown, for_reply=False))
    known = len(words.prompt(grown)) // 16 * 16
    assert cache.cached("salt", words.prompt([*grown, {"role": "user", "content": "next"}])) == known
    assert cache.cached("other", words.prompt(grown)) == 0


@pytest.mark.parametrize("text", ["", "Good day.", "你好,收到 😀!", "  two  spaces \n"])
def test_pieces_make_up_the_whole_reply(tmp_path: Path, text: str) -> None:
    for vocabulary in (Words(), RealTokens(tiny_model(tmp_path))):
        assert "".join(vocabulary.pieces(text)) == text


def test_a_real_tokenizer_counts_the_prompt_of_the_chat_template(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    with scripted_engine("--tokenizer", str(folder / "tokenizer.json"), "--model", "tiny") as engine:
        counted = httpx.post(f"{engine.url}/tokenize", json={"messages": CHAT}, trust_env=False).json()["count"]
        assert counted == len(RealTokens(folder).prompt(CHAT))
        assert f'"prompt_tokens":{counted}' in ask(engine)
