"""Which scenarios the served models can play."""

from dataclasses import replace

import pytest
from typing_extensions import override

from gateway.domain.moderation.injection import InjectionScorer
from gateway.domain.moderation.phrases import Action
from gateway.moderation_desk import ModerationDesk
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.domain.tiers import Tier
from sessions.errors import ModerationUnavailable, ScenarioInvalid
from sessions.moderation_ports import Moderation
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.check_scenario import CheckScenario
from tests.support.knowledge_house import KnowledgeHouse
from tests.support.moderated import UnreadableRules, banned, moderation
from tests.support.records_world import ELSEWHERE, HERE
from tests.support.session_fakes import SHARES, FakeTiers, WordCounter, content, viewer, writers

MODELS = ("fake", "wordy", "large")
LONG = "You are a customer. " * 80


class WordyCounter(WordCounter):
    """Has two tokens where others have one."""

    @override
    def count_text(self, text: str) -> int:
        return 2 * super().count_text(text)


NO_RULES = moderation()


def check(*models: str, knowledge: MemoryKnowledge | None = None, desk: Moderation = NO_RULES) -> CheckScenario:
    known = models or MODELS
    wordy = PromptWriter(model="wordy", counter=WordyCounter(), shares=SHARES)
    return CheckScenario(
        writers=dict(writers(*known)) | {"wordy": wordy},
        tiers=FakeTiers(known),
        catalogue=knowledge or MemoryKnowledge(),
        moderation=desk,
    )


async def test_a_sound_scenario_comes_back_as_it_is() -> None:
    sound = content(tiers=((Tier.ROLE_PLAY, "large"), (Tier.FAQ, "wordy")))
    assert await check()(viewer(), sound) is sound


async def test_a_scenario_that_could_never_be_played_is_refused() -> None:
    with pytest.raises(ScenarioInvalid, match="title is empty"):
        await check()(viewer(), content(title=" "))


async def test_a_model_that_is_not_served_is_named_with_those_that_are() -> None:
    with pytest.raises(ScenarioInvalid, match="there are fake, wordy, large") as caught:
        await check()(viewer(), content(tiers=((Tier.SCORING, "huge"),)))
    assert caught.value.field == "model_tiers.scoring"


async def test_every_model_that_may_play_it_counts_its_blocks() -> None:
    await check()(viewer(), content(instructions=LONG))
    with pytest.raises(ScenarioInvalid, match=r"\(as the model wordy counts\)") as caught:
        await check()(viewer(), content(instructions=LONG, tiers=((Tier.ROLE_PLAY, "wordy"),)))
    assert caught.value.field == "instructions"
    # that it scores or answers questions does not matter to what it is shown of the role-play
    await check()(viewer(), content(instructions=LONG, tiers=((Tier.FAQ, "wordy"),)))


async def test_a_sensitive_scenario_is_counted_by_the_model_of_sensitive_work() -> None:
    wanted = ((Tier.ROLE_PLAY, "large"), (Tier.SENSITIVE, "wordy"))
    await check()(viewer(), content(instructions=LONG, tiers=wanted))
    with pytest.raises(ScenarioInvalid, match="wordy"):
        await check()(viewer(), content(instructions=LONG, tiers=wanted, is_sensitive=True))


async def test_where_there_is_one_model_it_is_not_named() -> None:
    small = replace(SHARES, opening=2)
    alone = CheckScenario(
        writers={"fake": PromptWriter(model="fake", counter=WordCounter(), shares=small)},
        tiers=FakeTiers(),
        catalogue=MemoryKnowledge(),
        moderation=NO_RULES,
    )
    with pytest.raises(ScenarioInvalid, match=r"at most 2 are allowed$"):
        await alone(viewer(), content())


async def test_the_guidance_of_the_base_is_frozen_into_the_scenario() -> None:
    house = KnowledgeHouse()
    base = await house.base(guidance="Quote prices exactly.")
    sound = await check(knowledge=house.knowledge)(HERE.teacher, content(knowledge_base=base))
    assert sound == content(knowledge_base=base, guidance="Quote prices exactly.")


async def test_a_guidance_has_to_fit_beside_persona_and_instructions() -> None:
    house = KnowledgeHouse()
    base = await house.base(guidance="word " * 600)
    with pytest.raises(ScenarioInvalid, match="guidance of the knowledge base") as caught:
        await check(knowledge=house.knowledge)(HERE.teacher, content(knowledge_base=base))
    assert caught.value.field == "instructions"


async def test_a_base_that_is_another_tenants_or_nobodys_cannot_be_named() -> None:
    house = KnowledgeHouse()
    theirs, gone = await house.base(people=ELSEWHERE), await house.base()
    await house.knowledge.remove_base(HERE.tenant, gone)
    told = set()
    for base in (theirs, gone):
        with pytest.raises(ScenarioInvalid) as caught:
            await check(knowledge=house.knowledge)(HERE.teacher, content(knowledge_base=base))
        told.add((caught.value.field, caught.value.detail))
    assert told == {("knowledge_base_id", "there is no such knowledge base")}


@pytest.mark.parametrize("opening", ["Tell me the secret word.", "Tell me the S.E.C.R.E.T w\u043erd"])
async def test_an_opening_that_trainees_may_not_be_shown_is_refused_without_its_words(opening: str) -> None:
    with pytest.raises(ScenarioInvalid) as refused:
        await check(desk=moderation(banned("secret word")))(viewer(), content(opening=opening))
    assert (refused.value.field, refused.value.detail) == ("opening", "moderation stops it: banned_phrase")


async def test_an_opening_is_kept_with_its_masks() -> None:
    desk = moderation(banned("secret", action=Action.MASK))
    sound = await check(desk=desk)(viewer(), content(opening="Tell me the secret."))
    assert sound.opening == "Tell me the ***."


async def test_no_scenario_is_taken_while_rules_cannot_be_read() -> None:
    with pytest.raises(ModerationUnavailable):
        await check(desk=ModerationDesk(keeper=UnreadableRules(), scorer=InjectionScorer()))(viewer(), content())
