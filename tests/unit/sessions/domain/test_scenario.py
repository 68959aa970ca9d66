"""Which scenarios can be played."""

from dataclasses import replace

import pytest

from sessions.domain.scenario import (
    MAX_CRITERIA,
    MAX_SCENES,
    MAX_TURNS,
    BlockLimits,
    Criterion,
    Rubric,
    ScenarioContent,
    Scene,
    checked,
    sized,
    system_block,
)
from sessions.domain.tiers import Tier
from sessions.errors import ScenarioInvalid
from tests.support.records_world import CONTENT

LIMITS = BlockLimits(system=20, script=10, opening=5, reply=200)


def _words(text: str) -> int:
    return len(text.split())


def _criteria(count: int) -> Rubric:
    return Rubric(tuple(Criterion(f"c{number}", "") for number in range(count)))


@pytest.mark.parametrize(
    "content",
    [
        CONTENT,
        replace(CONTENT, rubric=Rubric()),
        replace(CONTENT, instructions="", max_turns=1),
        replace(CONTENT, max_turns=MAX_TURNS, rubric=_criteria(MAX_CRITERIA)),
        replace(CONTENT, scenes=tuple(Scene(f"s{number}", "") for number in range(MAX_SCENES))),
        replace(CONTENT, rubric=Rubric((Criterion("a", "", 0), Criterion("b", "", 1)), pass_mark=1.0)),
    ],
)
def test_what_can_be_played_comes_back_as_it_is(content: ScenarioContent) -> None:
    assert checked(content) is content


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (replace(CONTENT, title=" \n"), "title"),
        (replace(CONTENT, persona=""), "persona"),
        (replace(CONTENT, opening="\t"), "opening"),
        (replace(CONTENT, scenes=()), "scenes"),
        (replace(CONTENT, scenes=tuple(Scene(f"s{number}", "") for number in range(MAX_SCENES + 1))), "scenes"),
        (replace(CONTENT, scenes=(Scene(" ", ""),)), "scenes"),
        (replace(CONTENT, scenes=(Scene("a", "x"), Scene("a", "y"))), "scenes"),
        (replace(CONTENT, max_turns=0), "limits.max_turns"),
        (replace(CONTENT, max_turns=MAX_TURNS + 1), "limits.max_turns"),
        (replace(CONTENT, rubric=_criteria(MAX_CRITERIA + 1)), "rubric.criteria"),
        (replace(CONTENT, rubric=Rubric((Criterion("a", ""), Criterion("a", "")))), "rubric.criteria"),
        (replace(CONTENT, rubric=Rubric((Criterion("", ""),))), "rubric.criteria"),
        (replace(CONTENT, rubric=Rubric((Criterion("a", "", 0),))), "rubric.criteria"),
        (replace(CONTENT, rubric=Rubric(pass_mark=1.01)), "rubric.pass_mark"),
        (replace(CONTENT, rubric=Rubric(pass_mark=-0.01)), "rubric.pass_mark"),
        (replace(CONTENT, rubric=Rubric(pass_mark=float("nan"))), "rubric.pass_mark"),
    ],
)
def test_what_cannot_be_played_is_refused_by_field(content: ScenarioContent, field: str) -> None:
    with pytest.raises(ScenarioInvalid) as refused:
        checked(content)
    assert refused.value.field == field
    assert refused.value.detail


def test_the_system_block_is_persona_and_instructions() -> None:
    assert system_block(replace(CONTENT, persona=" A ", instructions="\nB\n")) == "A\n\nB"
    assert system_block(replace(CONTENT, persona="A", instructions=" ")) == "A"


def test_the_guidance_of_the_knowledge_base_belongs_to_the_system_block() -> None:
    guided = replace(CONTENT, persona="A", instructions="B", guidance=" C ")
    assert system_block(guided) == "A\n\nB\n\nC"
    limits = BlockLimits(system=2, script=500, opening=100, reply=100)
    with pytest.raises(ScenarioInvalid, match="guidance of the knowledge base have 3 tokens, and at most 2"):
        sized(guided, limits, lambda text: len(text.split()))


def test_content_within_its_shares_comes_back_as_it_is() -> None:
    assert sized(CONTENT, LIMITS, _words) is CONTENT
    assert sized(replace(CONTENT, max_reply_tokens=None), LIMITS, _words).max_reply_tokens is None


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (replace(CONTENT, persona="word " * 21), "instructions"),
        (replace(CONTENT, opening="word " * 6), "opening"),
        (replace(CONTENT, scenes=(Scene("fine", "x"), Scene("long", "word " * 11))), "scenes"),
        (replace(CONTENT, max_reply_tokens=201), "limits.max_reply_tokens"),
        (replace(CONTENT, max_reply_tokens=0), "limits.max_reply_tokens"),
    ],
)
def test_a_block_beyond_its_share_is_refused_by_field(content: ScenarioContent, field: str) -> None:
    with pytest.raises(ScenarioInvalid) as refused:
        sized(content, LIMITS, _words)
    assert refused.value.field == field


def test_all_work_of_a_sensitive_scenario_is_sensitive() -> None:
    assert [CONTENT.tier_of(tier) for tier in Tier] == list(Tier)
    sensitive = replace(CONTENT, is_sensitive=True)
    assert {sensitive.tier_of(tier) for tier in Tier} == {Tier.SENSITIVE}
