"""What is counted of moderation: each text once, by its kind, with all that was found in it."""

import pytest

from gateway.counted_moderation import CountedModeration
from gateway.metrics import Metrics
from sessions.domain.moderation import Judgement
from sessions.domain.viewer import TenantId
from sessions.moderation_ports import Rules
from tests.support.moderated import banned, moderation
from tests.support.records_world import HERE

TENANT = TenantId(HERE.tenant)


@pytest.fixture
def seen() -> list[tuple[str, str]]:
    return []


@pytest.fixture
async def rules(seen: list[tuple[str, str]]) -> Rules:
    def saw(kind: str, found: Judgement) -> None:
        seen.append((kind, found.verdict))

    return await CountedModeration(moderation(banned("secret")), saw=saw).rules(TENANT)


async def test_every_kind_of_text_is_counted_once_and_told_as_it_is(rules: Rules, seen: list[tuple[str, str]]) -> None:
    plain = await moderation(banned("secret")).rules(TENANT)
    for text in ("good morning", "the secret"):
        assert await rules.message(text) == await plain.message(text)
        assert await rules.instructions(text) == await plain.instructions(text)
        assert await rules.written(text) == await plain.written(text)
        assert await rules.knowledge(text) == await plain.knowledge(text)
    kinds = ["message", "instructions", "written", "knowledge"]
    assert seen == [(kind, verdict) for verdict in ("allow", "block") for kind in kinds]


async def test_a_reply_is_counted_at_its_end_however_it_ends(rules: Rules, seen: list[tuple[str, str]]) -> None:
    async with rules.reply("hello") as check:
        assert check.feed("the sec") == "the "
        assert check.feed("ret") + await check.finish() == ""
        assert not seen
    with pytest.raises(KeyError):
        async with rules.reply() as check:
            raise KeyError
    assert seen == [("reply", "block"), ("reply", "allow")]


async def test_identity_and_points_are_those_of_the_rules() -> None:
    inner = moderation(banned("secret"))
    counted = CountedModeration(inner, saw=lambda _kind, _found: None)
    assert (await counted.rules(TENANT)).identity == (await inner.rules(TENANT)).identity
    assert await counted.points_made([("greets", ["good morning"])], "Good morning!") == ("greets",)


async def test_metrics_count_texts_and_findings_and_tell_no_words() -> None:
    metrics = Metrics()
    rules = await CountedModeration(moderation(banned("secret")), saw=metrics.saw_moderated).rules(TENANT)
    await rules.message("the secret")
    await rules.message("good morning")
    text = (await metrics.text()).decode()
    assert 'drillyard_moderation_texts_total{kind="message",verdict="block"} 1.0' in text
    assert 'drillyard_moderation_texts_total{kind="message",verdict="allow"} 1.0' in text
    assert 'drillyard_moderation_findings_total{action="block",direction="input",source="phrase"} 1.0' in text
    assert "secret" not in text
