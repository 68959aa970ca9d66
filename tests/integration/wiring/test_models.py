"""Two served models, each with its own tokenizer, window and way of being asked."""

from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.settings import ModelSettings, Settings
from gateway.wiring.models import Counters, counted_by, model_counters, model_tiers, prompt_writers, served_models
from router.domain.fleet import Fleet
from sessions.domain.tiers import Chosen, Tier
from sessions.domain.viewer import TenantId
from sessions.errors import TokenizerUnusable
from tests.support.tiny_model import tiny_model


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tiny_model(tmp_path_factory.mktemp("model"))
    return Settings(
        redis_url="redis://127.0.0.1:1/0",
        database_url="postgresql://nobody@127.0.0.1:1/nowhere",
        model=ModelSettings(name="a", folder=folder, temperature=0.3),
        models=(ModelSettings(name="b", folder=folder, window_tokens=8192),),
        tiers={Tier.ROLE_PLAY: "b"},
    )


@pytest.fixture(scope="module")
def counters(settings: Settings) -> Counters:
    return model_counters(settings)


def test_each_model_has_a_tokenizer_a_writer_and_a_way_of_being_asked(settings: Settings, counters: Counters) -> None:
    assert list(counters) == ["a", "b"]
    writers = prompt_writers(settings, counters)
    assert {model: writer.window_tokens for model, writer in writers.items()} == {"a": 4096, "b": 8192}
    assert [(model.name, model.temperature) for model in served_models(settings, counters)] == [("a", 0.3), ("b", 0.7)]


def test_what_counts_is_told_for_each_where_there_are_several(counters: Counters) -> None:
    alone = {"a": counters["a"]}
    assert counted_by(alone) == counters["a"].counted_by
    assert counted_by(counters) == f"a: {counters['a'].counted_by}; b: {counters['b'].counted_by}"


def test_a_further_model_without_a_tokenizer_refuses_the_start(settings: Settings, tmp_path: Path) -> None:
    broken = settings.model_copy(update={"models": (ModelSettings(name="b", folder=tmp_path),)})
    with pytest.raises(TokenizerUnusable):
        model_counters(broken)


async def test_tenants_choose_among_the_models_of_the_settings(
    settings: Settings, database_engine: AsyncEngine
) -> None:
    tiers = model_tiers(settings, database_engine, fleet=Fleet)
    tenant = TenantId(uuid4())
    assert await tiers.choose(Tier.ROLE_PLAY, tenant, {}) == Chosen(Tier.ROLE_PLAY, "b")
    assert await tiers.choose(Tier.FAQ, tenant, {}) == Chosen(Tier.FAQ, "a")
    assert [pool.model for pool in tiers.pools()] == ["a", "b"]
