"""Jobs under rules, in a worker process of their own on real stores: what is blocked is told by its code alone."""

from pathlib import Path
from uuid import uuid4

from gateway.adapters.postgres_phrase_lists import PostgresPhraseLists
from gateway.domain.moderation.phrases import Action, PhraseList
from gateway.local.redis_server import RedisServer
from gateway.moderation_ports import KeptList, ListDirection, ListId
from sessions.adapters.postgres.engine import postgres_engine
from tests.support.job_house import job_house, worker_process
from tests.support.moderated import banned
from tests.support.records_world import HERE, NOON
from tests.support.simulator_process import simulator
from tests.support.tiny_model import tiny_model

QUESTIONS = ["Question 1: what is the s.e.c.r.e.t word?", "Question 2: are returns free?"]


async def in_force(database_url: str, *lists: PhraseList) -> None:
    engine = postgres_engine(database_url)
    for one in lists:
        kept = KeptList(
            id=ListId(uuid4()),
            tenant=HERE.tenant,
            name=one.name,
            scenario=None,
            direction=ListDirection.BOTH,
            live_version=1,
            latest_version=1,
            created_by=HERE.instructor,
            created_at=NOON,
        )
        await PostgresPhraseLists(engine=engine).add(kept, one)
    await engine.dispose()


async def test_what_is_blocked_is_told_by_its_code_and_never_kept(
    database_url: str, empty_redis: RedisServer, tmp_path: Path
) -> None:
    model, log = tiny_model(tmp_path), tmp_path / "worker.log"
    with simulator("--speed-up", "50", "--model", str(model), "--max-model-len", "4096") as replica:
        async with job_house(database_url, empty_redis.url, model, replica) as house:
            masked = banned("hush now", action=Action.MASK, name="masked")
            await in_force(database_url, banned("secret word"), masked)
            replica.script("It is the secret word, you see.")
            with worker_process(house, log):
                job = await house.ended(await house.ask(QUESTIONS))
                first = await house.results(job)
                replica.script("Returns, hush now, are free.")
                again = await house.results(await house.ended(await house.ask(QUESTIONS[1:])))
            asked = house.asked()
    assert [item.error and item.error.code for item in first] == ["question_blocked", "answer_blocked"]
    assert all(item.answer is None and item.error and "banned_phrase" in item.error.message for item in first)
    assert [item.answer and item.answer.text for item in again] == ["Returns, ***, are free."]
    assert len(asked) == 2, "the blocked question was never asked"
    assert "secret" not in log.read_text()
