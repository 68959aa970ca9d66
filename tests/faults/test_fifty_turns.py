"""Fifty turns in a window of 4,096 tokens: never too long, seldom read anew, nothing is forgotten, with or without
Redis."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
import redis

from tests.support.gateway_process import World, world
from tests.support.long_talk import REPLY, WINDOW, Talk, begin, digest_of
from tests.support.postgres_fixture import PostgresTemplate

TURNS, FLUSHED = 50, 40
VERBATIM = 20
BLOCK = 32
"""Tokens that a replica's cache keeps or loses together."""

FACTS = {
    2: "By the way, my daughter is called Mirabel.",
    9: "The serial number on the back is KX-48213-B.",
    16: "We agreed that the technician comes on Thursday at 3 pm.",
}
QUESTIONS = (
    "Could you tell me what you did with the machine just before the red light came on?",
    "And how has the repair shop explained the fault to you the last time it was there?",
    "What would help you most right now, a replacement or another repair?",
    "Is the light on all the time, or does it blink?",
)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate) -> Iterator[World]:
    with (
        postgres_template.copy() as url,
        world(tmp_path_factory.mktemp("fifty"), url, simulators=2) as made,
    ):
        yield made


@dataclass
class Call:
    """A whole session, as it was told before each turn and as it was sent."""

    talk: Talk
    told: list[dict[str, Any]]
    sent: list[dict[str, Any]]
    requests: list[dict[str, Any]]

    @property
    def folds(self) -> set[int]:
        """Turns that were the first after a fold."""
        notes = [len(context["notes"]) for context in self.told]
        return {number for number, (before, after) in enumerate(pairwise(notes), 2) if after > before}


@pytest.fixture(scope="module")
def call(installation: World) -> Iterator[Call]:
    with installation.client() as client:
        talk, told = begin(installation, client), []
        for number in range(1, TURNS + 1):
            told.append(talk.context())
            talk.play(text_of(number))
            talk.think()
        yield Call(talk, told, talk.sent(), talk.requests())


def text_of(number: int) -> str:
    return f"{QUESTIONS[number % len(QUESTIONS)]} {FACTS.get(number, '')}".strip()


def test_no_prompt_is_over_its_budget_and_every_turn_is_answered(call: Call) -> None:
    assert len(call.sent) == TURNS
    assert all(record["prompt_tokens"] + REPLY <= WINDOW for record in call.requests)
    assert {turn["state"] for turn in call.talk.turns} == {"completed"}


def test_what_is_sent_is_what_the_context_tells(call: Call) -> None:
    for number, (record, context) in enumerate(zip(call.sent, call.told, strict=True), start=1):
        assert record["messages"][-1]["content"] == text_of(number)
        assert digest_of(record["messages"][:-1]) == context["prompt_sha256"]
        assert record["prompt_tokens"] - context["prompt_tokens"] < context["available_tokens"]


def test_the_latest_twenty_turns_stand_word_for_word(call: Call) -> None:
    for number, record in enumerate(call.sent, start=1):
        texts = [message["content"] for message in record["messages"]]
        for earlier in call.talk.turns[max(0, number - 1 - VERBATIM) : number - 1]:
            assert earlier["text"] in texts
            assert earlier["reply"] in texts


def test_planted_facts_are_still_known_at_turn_45(call: Call) -> None:
    known = "\n".join(message["content"] for message in call.sent[44]["messages"])
    assert all(fact in known for fact in ("Mirabel", "KX-48213-B", "Thursday at 3 pm"))
    words = [message["content"] for message in call.sent[44]["messages"]]
    assert text_of(2) not in words
    assert text_of(9) not in words


def test_prompts_only_grow_between_folds(call: Call) -> None:
    assert 1 <= len(call.folds) <= 2
    for number, (before, after) in enumerate(pairwise(call.sent), 2):
        grows = after["messages"][: len(before["messages"])] == before["messages"]
        assert grows is (number not in call.folds)


def test_the_turn_after_a_fold_finds_its_prompt_in_the_cache(call: Call) -> None:
    uncached = [record["prompt_tokens"] - record["cached_tokens"] for record in call.sent]
    usual = max(tokens for number, tokens in enumerate(uncached, 1) if number not in call.folds)
    assert all(uncached[number - 1] <= usual + BLOCK for number in call.folds)


def test_little_is_computed_twice(call: Call) -> None:
    computed = sum(record["prompt_tokens"] - record["cached_tokens"] for record in call.requests)
    prompts = [record["prompt_tokens"] for record in call.sent]
    grown = [after - before for number, (before, after) in enumerate(pairwise(prompts), 2) if number not in call.folds]
    assert computed <= 1.6 * (prompts[0] + sum(grown)), (computed, prompts[0] + sum(grown), call.folds)


def test_an_emptied_redis_changes_no_prompt(installation: World, call: Call) -> None:
    """Emptied after each turn, it is also emptied before and after each fold."""
    with installation.client() as client, redis.Redis.from_url(installation.redis.url) as admin:
        talk = begin(installation, client)
        for number in range(1, FLUSHED + 1):
            talk.play(text_of(number))
            talk.fold()
            admin.flushall()
        sent = talk.sent()
    assert [turn["reply"] for turn in talk.turns] == [turn["reply"] for turn in call.talk.turns[:FLUSHED]]
    assert [record["messages"] for record in sent] == [record["messages"] for record in call.sent[:FLUSHED]]
    assert talk.notes()
