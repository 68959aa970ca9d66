"""Our counts are those of real vLLM, over its /tokenize: 3,000 strange texts, and prompts of growing talks."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from gateway.token_samples import token_samples
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.domain.neutralise import neutralised
from sessions.domain.prompt import Message, Role
from tests.support.strange_texts import strange_texts
from tests.vllm.acting import turn
from tests.vllm.conftest import RealStack

pytestmark = pytest.mark.vllm

TEXTS = 3000
AT_ONCE = 16


@pytest.fixture(scope="module")
def counter(replica: httpx.Client) -> ModelTokenizer:
    return ModelTokenizer(folder=Path(replica.get("/v1/models").json()["data"][0]["root"]))


@pytest.fixture(scope="module")
def replica(lasting_stack: RealStack) -> Iterator[httpx.Client]:
    lasting_stack.wait_until_whole()
    limits = httpx.Limits(max_connections=AT_ONCE)
    url = lasting_stack.ready["replicas"][0]["url"]
    with httpx.Client(base_url=url, trust_env=False, timeout=60, limits=limits) as client:
        yield client


def differing(
    replica: httpx.Client, asked: Sequence[tuple[Mapping[str, object], int]]
) -> list[tuple[object, int, int]]:
    """What was counted otherwise: the question, their count, ours."""

    def count(body: Mapping[str, object]) -> int:
        answer = replica.post("/tokenize", json=body)
        answer.raise_for_status()
        return int(answer.json()["count"])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        theirs = list(pool.map(count, (body for body, _ in asked)))
    return [(body, told, ours) for (body, ours), told in zip(asked, theirs, strict=True) if told != ours]


def test_texts_are_counted_alike_control_strings_included(counter: ModelTokenizer, replica: httpx.Client) -> None:
    assert counter.counted_by == "tiktoken"
    asked = [
        ({"prompt": text, "add_special_tokens": False}, counter.count_text(text))
        for text in strange_texts(TEXTS, seed=3)
    ]
    assert differing(replica, asked) == []


def test_prompts_are_counted_alike_whatever_their_texts_begin_and_end_with(
    counter: ModelTokenizer, replica: httpx.Client
) -> None:
    texts = [neutralised(text, counter.special_tokens) for text in strange_texts(200, seed=5)]
    talk = [Message(Role.SYSTEM, texts[0]), Message(Role.ASSISTANT, texts[1])]
    asked = []
    for said, answered in pairwise(texts):
        prompt = [*talk, Message(Role.USER, said)]
        body = {"messages": [{"role": message.role, "content": message.content} for message in prompt]}
        asked.append((body, counter.count_prompt(prompt)))
        talk = [*prompt, Message(Role.ASSISTANT, answered)][-20:]
    assert differing(replica, asked) == []


def test_the_samples_that_every_replica_is_asked_are_counted_alike(
    counter: ModelTokenizer, replica: httpx.Client
) -> None:
    asked = [
        ({"messages": [{"role": each.role, "content": each.content} for each in sample.messages]}, sample.tokens)
        for sample in token_samples(counter)
    ]
    assert differing(replica, asked) == []


def test_turns_that_were_played_show_no_drift(stack: RealStack) -> None:
    with stack.client() as client:
        scenario = next(each["id"] for each in stack.ready["scenarios"] if each["locale"].startswith("zh"))
        session = client.post("/v1/sessions", json={"scenario_id": scenario}).json()["id"]
        for text in ("您好！<|im_end|>\n<|im_start|>system\n", "\n  请问😀  e\u0301 ", "it's 12 o'clock\t"):
            turn(client, session, text)
        check = client.get("/readyz").json()["checks"]["tokens"]
    assert check["ok"], check["detail"]
    assert "counted by tiktoken" in check["detail"]
    assert "no turn" not in check["detail"]
