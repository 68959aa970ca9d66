"""Workers are killed, Postgres goes away, the replica fails: every question is answered once, or says why it is not."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.local.postgres_server import postgres_server
from gateway.local.redis_server import RedisServer
from gateway.wiring.services import services
from gateway.wiring.worker import worker
from sessions.domain.job import ItemState, JobState
from sessions.migrations import upgrade
from sessions.use_cases.ask_questions import QuestionsOrder
from tests.support.eventually import eventually
from tests.support.job_house import JobHouse, job_house, numbered, worker_process
from tests.support.records_world import HERE
from tests.support.simulator_process import SimulatorProcess, simulator
from tests.support.tiny_model import tiny_model

SLOW = {"kind": "slow", "factor": 5.0}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def lasting_replica(model: Path) -> Iterator[SimulatorProcess]:
    with simulator("--speed-up", "50", "--model", str(model), "--max-model-len", "4096") as process:
        yield process


@pytest.fixture
def replica(lasting_replica: SimulatorProcess) -> SimulatorProcess:
    lasting_replica.reset()
    lasting_replica.clear_faults()
    lasting_replica.admin.delete("/sim/requests").raise_for_status()
    return lasting_replica


@pytest.fixture
async def house(
    database_url: str, empty_redis: RedisServer, model: Path, replica: SimulatorProcess
) -> AsyncIterator[JobHouse]:
    async with job_house(database_url, empty_redis.url, model, replica) as made:
        yield made


async def test_what_a_killed_worker_had_begun_is_finished_by_another_and_nothing_twice(
    house: JobHouse, tmp_path: Path
) -> None:
    house.replica.fault(**SLOW)
    job = await house.ask(numbered(24))
    with worker_process(house, tmp_path / "first.log") as first:
        await house.when(job, lambda seen: seen.questions.completed >= 5)
        first.kill()
        first.wait()
        begun = [item for item in await house.results(job) if item.state is ItemState.RUNNING]
        answered = {item.plan.number: item for item in await house.results(job) if item.answer is not None}
        assert begun
    with worker_process(house, tmp_path / "second.log"):
        over = await house.ended(job, within_s=60)
    assert (over.state, over.questions.completed) == (JobState.COMPLETED, 24)
    items = await house.results(job)
    assert {item.attempts for item in items if item.plan.number not in {each.plan.number for each in begun}} == {1}
    assert {item.attempts for item in items if item.plan.number in {each.plan.number for each in begun}} == {2}
    # What was answered before is as it was, and was asked once.
    assert {number: items[number - 1] for number in answered} == answered
    asked = Counter(number for number in answered for text in house.asked() if items[number - 1].plan.text in text)
    assert set(asked.values()) == {1}


async def test_a_worker_that_is_told_to_stop_gives_back_what_it_has(house: JobHouse, tmp_path: Path) -> None:
    house.replica.fault(kind="stall", last="Question", times=1)
    job = await house.ask(numbered(1))
    with worker_process(house, tmp_path / "first.log") as first:
        await eventually(lambda: bool(house.asked()), within_s=30)
        first.send_signal(signal.SIGTERM)
        assert first.wait(20) == 0
    (item,) = await house.results(job)
    assert (item.state, item.attempts) == (ItemState.QUEUED, 0)
    async with worker(house.settings):
        assert (await house.ended(job)).questions.completed == 1


async def test_a_gateway_answers_jobs_beside_its_turns_until_it_is_told_to_stop(house: JobHouse) -> None:
    house.replica.script({"last": "Question 3:", "replies": [{"long": 20_000}]})
    house.replica.fault(kind="stall", last="Question 3:", after_chunks=1)
    stopping = asyncio.Event()
    async with services(house.settings, stopping=stopping) as running:
        order = QuestionsOrder(HERE.teacher, house.base.id, tuple(numbered(3)))
        job = await running.jobs.ask(order)
        await house.when(job, lambda seen: seen.questions.completed == 2)
        assert b"drillyard_job_items_answered_total 2.0" in await running.metrics.text()
        await eventually(lambda: len(house.asked()) == 3)
        stopping.set()
    given_back = (await house.results(job))[2]
    assert (given_back.state, given_back.attempts) == (ItemState.QUEUED, 0)
    salts = {json.loads(body)["cache_salt"] for body in house.asked()}
    assert len(salts) == 1


async def test_two_workers_share_a_job(house: JobHouse) -> None:
    job = await house.ask(numbered(40))
    async with worker(house.settings) as one, worker(house.settings) as other:
        over = await house.ended(job)
        assert over.questions.completed == 40
        assert one.workers.figures.ended["answered"] + other.workers.figures.ended["answered"] == 40
    assert Counter(item.attempts for item in await house.results(job)) == {1: 40}
    assert len(house.asked()) == 40


async def test_a_question_that_fails_fails_alone(house: JobHouse) -> None:
    house.replica.fault(kind="cut", last="Question 2:", after_chunks=2)
    house.replica.fault(kind="refuse", last="Question 3:", status=400)
    questions = [*numbered(6), " ", "word " * 3000]
    job = await house.ask(questions)
    async with worker(house.settings):
        over = await house.ended(job)
    assert (over.state, over.questions.completed, over.questions.failed) == (JobState.COMPLETED, 4, 4)
    items = await house.results(job)
    errors = {item.plan.number: item.error.code for item in items if item.error is not None}
    assert errors == {2: "tutor_broke", 3: "tutor_rejected", 7: "text_empty", 8: "text_too_long"}
    assert items[1].attempts == 3
    assert all(item.answer is not None and item.answer.citations for item in items if item.plan.number in (1, 4, 5, 6))


async def test_cancelling_stops_what_is_being_generated(house: JobHouse) -> None:
    house.replica.script({"last": "Question", "replies": [{"long": 20_000}]})
    house.replica.fault(kind="slow", factor=100)
    job = await house.ask(numbered(9))
    async with worker(house.settings):
        await eventually(lambda: len(house.asked()) == 4)
        cancelled = await house.book.cancel(job.tenant, job.id, at=job.created_at)
        assert cancelled is not None
        assert cancelled.questions.cancelled == 9

        def all_gone() -> bool:
            requests = [request for request in house.replica.requests() if "Question" in request["body"]]
            return len(requests) == 4 and all(request["outcome"] == "gone" for request in requests)

        await eventually(all_gone)
    assert len(house.asked()) == 4


async def test_a_base_that_is_deleted_ends_the_job_with_the_reason(house: JobHouse) -> None:
    house.replica.fault(**SLOW)
    job = await house.ask(numbered(30))
    async with worker(house.settings):
        await house.when(job, lambda seen: seen.questions.completed >= 1)
        await house.library.remove_base(house.base.tenant, house.base.id)
        over = await house.ended(job)
    assert over.state is JobState.FAILED
    assert over.error is not None
    assert over.error.code == "knowledge_base_not_found"
    assert over.questions.completed >= 1
    assert {item.error.code for item in await house.results(job) if item.error} == {"knowledge_base_not_found"}


async def test_a_lost_postgres_delays_answers_and_loses_none(
    tmp_path: Path, empty_redis: RedisServer, model: Path, replica: SimulatorProcess
) -> None:
    cluster = tmp_path / "postgres"
    replica.fault(**SLOW)
    with postgres_server(cluster, fsync=False) as first:
        upgrade(first.url)
        port = int(first.url.rpartition(":")[2].partition("/")[0])
        async with job_house(first.url, empty_redis.url, model, replica) as house:
            job = await house.ask(numbered(16))
            async with worker(house.settings):
                await house.when(job, lambda seen: seen.questions.completed >= 2)
                os.kill(first.pid, signal.SIGQUIT)
                with postgres_server(cluster, fsync=False, port=port):
                    over = await house.ended(job, within_s=60)
                    assert (over.state, over.questions.completed) == (JobState.COMPLETED, 16)


async def test_a_long_document_is_read_in_layers_and_each_layer_once(
    database_url: str, empty_redis: RedisServer, model: Path, replica: SimulatorProcess
) -> None:
    chunks = [f"Chapter {number} tells of returns. " + "word " * 90 for number in range(1, 7)]
    async with job_house(database_url, empty_redis.url, model, replica, *chunks) as house:
        job = await house.ask(numbered(5), of_document=True)
        assert [layer.total for layer in job.layers] == [3, 2, 1, 5]
        async with worker(house.settings):
            await house.when(job, lambda seen: seen.layers[0].completed >= 1)
        async with worker(house.settings):
            over = await house.ended(job)
        assert over.state is JobState.COMPLETED
        assert over.progress == 1.0
        items = await house.results(job)
        assert all(item.answer and item.answer.citations for item in items)
        of_document = {cited.document for item in items if item.answer for cited in item.answer.citations}
        assert of_document == {house.document.id}
