"""An address that is away, slow or wrong says nothing, is counted, and is left alone for a while."""

import httpx
import pytest
from structlog.testing import capture_logs

from tests.contract.sessions.model_http.conftest import endpoint
from tests.support.search_models import SearchModels
from tests.support.session_fakes import FakeClock

BODY = {"query": "q", "documents": ["d"]}


async def test_an_answer_is_handed_on(models: SearchModels, client: httpx.AsyncClient, clock: FakeClock) -> None:
    models.answers["/v1/rerank"] = (200, b"as it is")
    asked = endpoint(client, models.rerank_url, clock)
    assert await asked.ask(BODY, within_s=5) == b"as it is"
    assert (models.bodies("/v1/rerank"), asked.failures) == ([BODY], 0)


@pytest.mark.parametrize("status", [204, 302, 400, 401, 429, 500, 503])
async def test_any_other_status_is_a_failure(
    status: int, models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.answers["/v1/rerank"] = (status, b"")
    asked = endpoint(client, models.rerank_url, clock)
    assert await asked.ask(BODY, within_s=5) is None
    assert asked.failures == 1


async def test_the_key_is_shown(models: SearchModels, client: httpx.AsyncClient, clock: FakeClock) -> None:
    models.key = "secret"
    assert await endpoint(client, models.rerank_url, clock, key="secret").ask(BODY, within_s=5) is not None
    assert await endpoint(client, models.rerank_url, clock).ask(BODY, within_s=5) is None


async def test_one_that_does_not_answer_costs_its_time_and_no_more(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.silent.add("/v1/rerank")
    asked = endpoint(client, models.rerank_url, clock)
    assert await asked.ask(BODY, within_s=0.02) is None
    assert asked.failures == 1


async def test_one_that_is_not_there_is_a_failure(client: httpx.AsyncClient, clock: FakeClock) -> None:
    asked = endpoint(client, "http://127.0.0.1:1/v1/rerank", clock)
    assert await asked.ask(BODY, within_s=5) is None
    assert asked.failures == 1


async def test_an_endless_answer_is_a_failure(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.answers["/v1/rerank"] = (200, b"x" * (32 * 1024 * 1024 + 1))
    asked = endpoint(client, models.rerank_url, clock)
    assert await asked.ask(BODY, within_s=30) is None
    assert asked.failures == 1


async def test_after_three_failures_in_a_row_it_is_left_alone_for_a_while(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.answers["/v1/rerank"] = (500, b"")
    asked = endpoint(client, models.rerank_url, clock)
    for _ in range(5):
        assert await asked.ask(BODY, within_s=5) is None
    assert (len(models.asked), asked.failures) == (3, 3)
    clock.advance(5)
    models.answers.clear()
    assert await asked.ask(BODY, within_s=5) is not None
    asked.worked()
    models.answers["/v1/rerank"] = (500, b"")
    await asked.ask(BODY, within_s=5)
    models.answers.clear()
    assert await asked.ask(BODY, within_s=5) is not None, "one failure is not three"


async def test_the_log_tells_of_an_outage_once_and_never_what_was_asked(
    models: SearchModels, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    models.answers["/v1/rerank"] = (500, b"")
    asked = endpoint(client, models.rerank_url, clock, key="secret")
    with capture_logs() as lines:
        for _ in range(2):
            await asked.ask({"query": "private words"}, within_s=5)
        models.answers.clear()
        asked.worked()
        asked.worked()
    assert [line["log_level"] for line in lines] == ["warning", "info"]
    assert not any(word in str(lines) for word in ("private", "secret", "127.0.0.1"))


async def test_the_clients_own_patience_does_not_count(models: SearchModels, clock: FakeClock) -> None:
    models.silent.add("/v1/rerank")
    async with httpx.AsyncClient(trust_env=False, timeout=0.01) as hasty:
        with capture_logs() as logs:
            assert await endpoint(hasty, models.rerank_url, clock).ask(BODY, within_s=0.2) is None
    assert [entry["reason"] for entry in logs] == ["TimeoutError"]  # ours; the client's is called ReadTimeout
