"""The search as the settings want it: with no models, or with both and their keys."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.settings import Settings, load, reasons
from gateway.wiring.knowledge import KnowledgeFinding, knowledge_finding
from gateway.wiring.models import model_counters
from sessions.adapters.postgres.knowledge_library import PostgresLibrary
from sessions.domain.citation import Background
from tests.support.eventually import eventually
from tests.support.knowledge_world import knowledge_base
from tests.support.moderated import moderation
from tests.support.records_world import settle
from tests.support.search_models import SearchModels, search_models
from tests.support.searching import shelve
from tests.support.tiny_model import tiny_model

BASE = knowledge_base()
REFUNDS, BATTERY = "You get your money back in a week.", "The accumulator lasts a day."


@pytest.fixture
async def models() -> AsyncIterator[SearchModels]:
    async with search_models() as running:
        running.key = "secret"
        yield running


@pytest.fixture
async def engine(database_engine: AsyncEngine) -> AsyncEngine:
    await settle(database_engine)
    library = PostgresLibrary(engine=database_engine)
    await library.add_base(BASE)
    await shelve(library, BASE, REFUNDS, BATTERY)
    return database_engine


def settings(folder: Path, **knowledge: object) -> Settings:
    return Settings.model_validate(
        {
            "redis_url": "redis://127.0.0.1:1/0",
            "database_url": "postgresql+psycopg://127.0.0.1:1/none",
            "model": {"name": "m", "folder": tiny_model(folder)},
            "knowledge": knowledge,
        }
    )


def aided(models: SearchModels) -> dict[str, object]:
    return {
        "embeddings": {"url": models.embeddings_url, "model": "embed", "key": "secret", "timeout_s": 5},
        "rerank": {"url": models.rerank_url, "model": "judge", "key": "secret", "timeout_s": 5},
    }


async def find(finding: KnowledgeFinding, question: str) -> Background:
    rules = await moderation().rules(BASE.tenant)
    return await finding.search.find(BASE.tenant, BASE.id, question, budget_tokens=400, rules=rules)


async def test_without_models_words_decide_and_no_model_is_counted(engine: AsyncEngine, tmp_path: Path) -> None:
    chosen = settings(tmp_path)
    async with knowledge_finding(chosen, engine, model_counters(chosen)) as finding:
        assert (await find(finding, "Do I get my money?")).text == f"[1] prices\n{REFUNDS}"
        assert (await find(finding, "退款")).text == ""
        assert finding.counters() == {
            "knowledge_searches": 2,
            "knowledge_searches_answered": 1,
            "knowledge_indexes_built": 1,
            "knowledge_indexes_late": 0,
            "knowledge_shelf_failures": 0,
            "knowledge_faults": 0,
        }
        assert finding.gauges() == {"knowledge_index_characters": len(REFUNDS) + len(BATTERY)}


async def test_with_models_meaning_counts_and_the_reranker_judges(
    engine: AsyncEngine, tmp_path: Path, models: SearchModels
) -> None:
    chosen = settings(tmp_path, **aided(models))
    async with knowledge_finding(chosen, engine, model_counters(chosen)) as finding:
        await find(finding, "money?")
        indexed = await finding.indexes.current(BASE.tenant, BASE.id)
        assert indexed is not None
        await eventually(lambda: indexed.vectors is not None)
        assert (await find(finding, "电池能用多久?")).text == f"[1] prices\n{BATTERY}"
        counted = finding.counters()
    assert (counted["knowledge_embedding_failures"], counted["knowledge_rerank_failures"]) == (0, 0)
    assert (counted["knowledge_vectors_made"], counted["knowledge_vectors_put_off"]) == (2, 0)
    assert {path for path, _ in models.asked} == {"/v1/embeddings", "/v1/rerank"}


async def test_models_that_are_away_are_counted_by_name(
    engine: AsyncEngine, tmp_path: Path, models: SearchModels
) -> None:
    models.key = "another"
    chosen = settings(tmp_path, **aided(models))
    async with knowledge_finding(chosen, engine, model_counters(chosen)) as finding:
        assert (await find(finding, "Do I get my money?")).citations
        await eventually(lambda: finding.counters()["knowledge_embedding_failures"] == 1)
        assert finding.counters()["knowledge_rerank_failures"] == 1
        await eventually(lambda: finding.counters()["knowledge_vectors_put_off"] == 1)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DRILLYARD_KNOWLEDGE__INDEX_CHARACTERS", "0"),
        ("DRILLYARD_KNOWLEDGE__INDEX_PATIENCE_S", "0"),
        ("DRILLYARD_KNOWLEDGE__RERANK__TIMEOUT_S", "0"),
        ("DRILLYARD_KNOWLEDGE__RERANK__URL", "nowhere"),
        ("DRILLYARD_KNOWLEDGE__RERANK__LEAST_RELEVANCE", "2"),
        ("DRILLYARD_KNOWLEDGE__EMBEDDINGS__MODEL", ""),
        ("DRILLYARD_KNOWLEDGE__EMBEDDINGS__LEAST_LIKENESS", "-1"),
    ],
)
def test_a_senseless_setting_is_refused_by_its_name(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = {
        "DRILLYARD_REDIS_URL": "redis://127.0.0.1:6379/0",
        "DRILLYARD_DATABASE_URL": "postgresql+psycopg://user:hush@127.0.0.1:5432/drillyard",
        "DRILLYARD_MODEL__NAME": "smollm2",
        "DRILLYARD_MODEL__FOLDER": "/models/smollm2",
    }
    for part in ("EMBEDDINGS", "RERANK"):
        sound[f"DRILLYARD_KNOWLEDGE__{part}__URL"] = "http://127.0.0.1:9000/v1/x"
        sound[f"DRILLYARD_KNOWLEDGE__{part}__MODEL"] = "x"
    for name, each in {**sound, variable: value}.items():
        monkeypatch.setenv(name, each)
    with pytest.raises(ValidationError) as caught:
        load()
    [reason] = reasons(caught.value)
    assert reason.startswith(f"{variable}: ")


def test_a_key_is_not_shown(tmp_path: Path) -> None:
    rerank = {"url": "http://127.0.0.1:9000/v1/rerank", "model": "judge", "key": "secret"}
    assert "secret" not in repr(settings(tmp_path, rerank=rerank))
