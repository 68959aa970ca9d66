"""What one look, one registration and one canary say of a server's every answer."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from router.adapters.vllm_probe import VllmProbe
from router.domain.engine_metrics import EngineMetrics
from router.domain.exchange import Message
from router.domain.fitness import NO_PREFIX_CACHE, NO_PROMPT_DETAILS, Expectation, TokenSample
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.domain.health import Observation
from router.domain.sighting import Late, Sighting
from router.settings import EngineKind, RouterSettings
from tests.support.stub_engine import ANSWER, StubEngine, stub_engine

SAMPLE = TokenSample((Message("system", "Be brief."), Message("user", "你好")), 12)
WANTED = Expectation(model="m", window_tokens=4096, samples=(SAMPLE,))
CHAT, COMPLETION = "/v1/chat/completions", "/v1/completions"


@pytest.fixture
async def stub() -> AsyncIterator[StubEngine]:
    async with stub_engine() as stub:
        yield stub


def probe_of(
    http: httpx.AsyncClient, *expectations: Expectation, is_open: bool = False, engine: EngineKind = EngineKind.VLLM
) -> VllmProbe:
    """By default one pool is expected; an open one takes any."""
    settings = RouterSettings(engine=engine, probe_timeout_s=1.0, canary_timeout_s=1.0)
    wanted = expectations or (() if is_open else (WANTED,))
    return VllmProbe(client=http, expectations=wanted, settings=settings)


def at(stub: StubEngine, *models: str) -> ReplicaSpec:
    return ReplicaSpec(ReplicaId("a"), stub.url + "/", frozenset(models))


async def test_a_look_is_health_and_metrics(stub: StubEngine, http: httpx.AsyncClient) -> None:
    seen = await probe_of(http).look(at(stub))
    assert seen == Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics(running=2, has_prefix_cache=True))
    assert stub.paths == ["/health", "/metrics"]


@pytest.mark.parametrize("status", [404, 500])
async def test_metrics_that_are_not_there_are_unknown_and_no_illness(
    stub: StubEngine, http: httpx.AsyncClient, status: int
) -> None:
    stub.answers["/metrics"] = (status, b"")
    assert await probe_of(http).look(at(stub)) == Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics())


async def test_a_page_without_end_is_read_as_far_as_it_goes(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers["/metrics"] = (200, b"vllm:num_requests_running 3\n" + b"#" * (5 << 20))
    seen = await probe_of(http).look(at(stub))
    assert isinstance(seen, Sighting)
    assert seen.metrics == EngineMetrics(running=3)


async def test_an_engine_that_says_it_is_ill_is_not_well(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers["/health"] = (503, b"")
    assert await probe_of(http).look(at(stub)) == Sighting(Observation.PROBE_FAILED, "answers HTTP 503 to /health")


async def test_nobody_there_cannot_be_reached(http: httpx.AsyncClient) -> None:
    async with stub_engine() as gone:
        spec = at(gone)
    seen = await probe_of(http).look(spec)
    assert isinstance(seen, Sighting)
    assert seen.observation is Observation.PROBE_FAILED
    assert seen.detail.startswith("cannot be reached (ConnectError")


@pytest.mark.parametrize("url", ["http://[x", "http://xn--a", "http://é.invalid", "http://\0", "ftp://x", "", "//x"])
async def test_an_address_that_is_none_cannot_be_reached(http: httpx.AsyncClient, url: str) -> None:
    seen = await probe_of(http).look(ReplicaSpec(ReplicaId("a"), url))
    assert isinstance(seen, Sighting)
    assert seen.observation is Observation.PROBE_FAILED


@pytest.mark.parametrize("path", ["/health", "/metrics"])
async def test_silence_is_late(stub: StubEngine, http: httpx.AsyncClient, path: str) -> None:
    stub.silent.add(path)
    assert await probe_of(http).look(at(stub)) == Late("no answer within 1 s")


async def test_a_sound_vllm_is_accepted_without_a_word(stub: StubEngine, http: httpx.AsyncClient) -> None:
    assert await probe_of(http).register(at(stub)) == Sighting(
        Observation.ACCEPTED, models=frozenset({"m"}), window_tokens=4096
    )
    conversation = next(json.loads(each.body) for each in stub.asked if each.path == "/tokenize")
    assert conversation["messages"][1] == {"role": "user", "content": "你好"}
    assert "chat_template_kwargs" not in conversation


async def test_the_samples_are_counted_with_what_requests_give_to_the_template(
    stub: StubEngine, http: httpx.AsyncClient
) -> None:
    expected = replace(WANTED, template_arguments=(("date_string", "a day"),))
    await probe_of(http, expected).register(at(stub))
    conversation = next(json.loads(each.body) for each in stub.asked if each.path == "/tokenize")
    assert conversation["chat_template_kwargs"] == {"date_string": "a day"}


@pytest.mark.parametrize(
    ("path", "answer", "reason"),
    [
        ("/v1/models", (401, {"error": "Unauthorized"}), "answers /v1/models with HTTP 401: Unauthorized"),
        ("/v1/models", (200, b""), "serves no model instead of m"),
        ("/v1/models", (200, b"[" * 100_000), "serves no model instead of m"),
        ("/v1/models", (200, []), "serves no model instead of m"),
        ("/v1/models", (200, {"data": 3}), "serves no model instead of m"),
        ("/v1/models", (200, {"data": [3, {"id": 4}]}), "serves no model instead of m"),
        ("/v1/models", (200, {"data": [{"id": "n"}]}), "serves n instead of m"),
        ("/v1/models", (200, {"data": [{"id": "m"}]}), "does not tell its window; 4096 tokens are needed"),
        ("/v1/models", (200, {"data": [{"id": "m", "max_model_len": 9}]}), "has a window of 9 tokens; 4096 are needed"),
        ("/tokenize", (404, {"detail": "Not Found"}), "answers /tokenize with HTTP 404: Not Found"),
        ("/tokenize", (200, {"count": "12"}), "answers /tokenize with HTTP 200: no message"),
        ("/tokenize", (200, {"count": 13}), "counts 13 tokens in a sample that has 12: another tokenizer"),
        ("/version", (200, {"version": "0.5.1"}), "is vLLM 0.5.1, which cannot continue a reply"),
    ],
)
async def test_an_unfit_replica_is_refused_in_plain_words(
    stub: StubEngine, http: httpx.AsyncClient, path: str, answer: tuple[int, object], reason: str
) -> None:
    stub.answers[path] = answer
    seen = await probe_of(http).register(at(stub))
    assert isinstance(seen, Sighting)
    assert seen.observation is Observation.REFUSED
    assert seen.detail.startswith(reason)


@pytest.mark.parametrize(
    ("path", "answer", "warning"),
    [
        ("/version", (404, b""), "does not tell which vLLM it is"),
        ("/version", (200, [3]), "does not tell which vLLM it is"),
        ("/version", (200, {"version": "0.9.1"}), "is vLLM 0.9.1, which gives no token ids"),
        ("/metrics", (404, b""), "answers HTTP 404 to /metrics"),
        ("/metrics", (200, b'vllm:cache_config_info{enable_prefix_caching="False"} 1.0'), NO_PREFIX_CACHE),
    ],
)
async def test_what_works_worse_than_it_could_is_a_warning(
    stub: StubEngine, http: httpx.AsyncClient, path: str, answer: tuple[int, object], warning: str
) -> None:
    stub.answers[path] = answer
    seen = await probe_of(http).register(at(stub))
    assert isinstance(seen, Sighting)
    assert seen.observation is Observation.ACCEPTED
    assert [each for each in seen.warnings if each.startswith(warning)]
    assert len(seen.warnings) == 1


async def test_an_error_of_its_own_is_no_misfit(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers["/v1/models"] = (500, b"")
    seen = await probe_of(http).register(at(stub))
    assert seen == Sighting(Observation.PROBE_FAILED, "answers HTTP 500 to /v1/models")


async def test_each_pool_has_its_own_window_and_samples(stub: StubEngine, http: httpx.AsyncClient) -> None:
    other = Expectation("n", 8192, (TokenSample(SAMPLE.messages, 9),), (("date_string", "a day"),))
    probe = probe_of(http, WANTED, other)
    assert await probe.register(at(stub)) == Sighting(Observation.ACCEPTED, models=frozenset({"m"}), window_tokens=4096)
    stub.answers["/v1/models"] = (200, {"data": [{"id": "n", "max_model_len": 8192}]})
    assert await probe.register(at(stub)) == Sighting(
        Observation.REFUSED, "counts 12 tokens in a sample that has 9: another tokenizer or chat template"
    )
    asked = [json.loads(each.body) for each in stub.asked if each.path == "/tokenize"]
    assert [each["model"] for each in asked] == ["m", "n"]
    assert asked[1]["chat_template_kwargs"] == {"date_string": "a day"}


async def test_a_replica_of_two_pools_must_fit_both(stub: StubEngine, http: httpx.AsyncClient) -> None:
    both = [{"id": "m", "max_model_len": 4096}, {"id": "n", "max_model_len": 4096}]
    stub.answers["/v1/models"] = (200, {"data": both})
    probe = probe_of(http, WANTED, Expectation("n", 8192, ()))
    assert await probe.register(at(stub)) == Sighting(
        Observation.REFUSED, "has a window of 4096 tokens; 8192 are needed"
    )
    assert (await probe.register(at(stub, "m"))) == Sighting(
        Observation.ACCEPTED, models=frozenset({"m"}), window_tokens=4096
    )


async def test_a_replica_of_no_expected_pool_is_refused(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers["/v1/models"] = (200, {"data": [{"id": "x"}]})
    probe = probe_of(http, WANTED, Expectation("n", 8192, ()))
    assert await probe.register(at(stub)) == Sighting(Observation.REFUSED, "serves x instead of m or n")


async def test_the_canary_is_sent_to_an_expected_model(stub: StubEngine, http: httpx.AsyncClient) -> None:
    await probe_of(http, WANTED, Expectation("n", 8192, ())).try_out(at(stub), ["a-lora", "n"])
    assert json.loads(stub.asked[0].body)["model"] == "n"


async def test_without_an_expectation_any_model_will_do(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers["/v1/models"] = (200, {"data": [{"id": "x"}, {"id": "y"}]})
    seen = await probe_of(http, is_open=True).register(at(stub))
    assert seen == Sighting(Observation.ACCEPTED, models=frozenset({"x", "y"}))
    assert "/tokenize" not in stub.paths


async def test_names_and_windows_that_can_be_none_are_not_believed(stub: StubEngine, http: httpx.AsyncClient) -> None:
    strange = [{"id": "\ud800"}, {"id": "a\nb"}, {"id": 5}, None, {"id": "m", "max_model_len": -5}]
    stub.answers["/v1/models"] = (200, {"data": strange})
    seen = await probe_of(http, is_open=True).register(at(stub))
    assert seen == Sighting(Observation.ACCEPTED, models=frozenset({"m"}))


async def test_pages_are_not_wanted_packed(stub: StubEngine, http: httpx.AsyncClient) -> None:
    await probe_of(http).look(at(stub))
    assert {each.headers["accept-encoding"] for each in stub.asked} == {"identity"}


async def test_it_serves_what_its_operator_says_and_no_more(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers["/v1/models"] = (200, {"data": [{"id": "x"}, {"id": "y"}]})
    probe = probe_of(http, is_open=True)
    assert await probe.register(at(stub, "y")) == Sighting(Observation.ACCEPTED, models=frozenset({"y"}))
    assert await probe.register(at(stub, "z")) == Sighting(Observation.REFUSED, "serves x, y instead of z")


async def test_of_another_engine_only_the_openai_api_is_asked(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers = {"/v1/models": (200, {"data": [{"id": "m"}]}), CHAT: (200, {**ANSWER, "usage": None})}
    probe = probe_of(http, engine=EngineKind.OPENAI)
    assert await probe.look(at(stub)) == Sighting(Observation.PROBE_PASSED)
    assert await probe.register(at(stub)) == Sighting(Observation.ACCEPTED, models=frozenset({"m"}))
    seen = await probe.try_out(at(stub), ["m"])
    assert isinstance(seen, Sighting)
    assert (seen.observation, seen.warnings) == (Observation.CANARY_PASSED, ())
    assert stub.paths == ["/health", "/v1/models", CHAT]


async def test_a_canary_is_one_token_with_a_name(stub: StubEngine, http: httpx.AsyncClient) -> None:
    seen = await probe_of(http, is_open=True).try_out(at(stub), ["n", "m"])
    assert isinstance(seen, Sighting)
    assert (seen.observation, seen.warnings) == (Observation.CANARY_PASSED, ())
    assert seen.took_ms is not None
    asked = stub.asked[0]
    body = json.loads(asked.body)
    assert (asked.path, body["max_tokens"], body["temperature"], body["model"]) == (CHAT, 1, 0, "m")
    assert "stream" not in body
    assert asked.headers["x-request-id"].startswith("canary-")


async def test_cached_tokens_that_are_not_reported_are_warned_of(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers[CHAT] = (200, {**ANSWER, "usage": {"prompt_tokens": 5, "prompt_tokens_details": None}})
    seen = await probe_of(http).try_out(at(stub), ["m"])
    assert isinstance(seen, Sighting)
    assert (seen.observation, seen.warnings) == (Observation.CANARY_PASSED, (NO_PROMPT_DETAILS,))


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        ((500, {"error": {"message": "cannot schedule new futures"}}), "HTTP 500: cannot schedule new futures"),
        ((404, {"error": {"message": "The model `m` does not exist."}}), "HTTP 404: The model `m` does not exist."),
        ((200, b"hello"), "HTTP 200: no message"),
        ((200, {"choices": []}), "HTTP 200: no message"),
        ((200, {"choices": [{"finish_reason": None}]}), "HTTP 200: no message"),
    ],
)
async def test_a_wrong_answer_is_a_failed_canary(
    stub: StubEngine, http: httpx.AsyncClient, answer: tuple[int, object], detail: str
) -> None:
    stub.answers[CHAT] = answer
    seen = await probe_of(http).try_out(at(stub), ["m"])
    assert seen == Sighting(Observation.CANARY_FAILED, f"answers its canary with {detail}")


@pytest.mark.parametrize("status", [429, 503])
async def test_a_full_replica_is_late_and_not_broken(stub: StubEngine, http: httpx.AsyncClient, status: int) -> None:
    stub.answers[CHAT] = (status, {"error": {"message": "full"}})
    assert await probe_of(http).try_out(at(stub), ["m"]) == Late(f"refuses its canary with HTTP {status}: full")


async def test_an_engine_that_generates_nothing_is_late(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.silent.add(CHAT)
    assert await probe_of(http).try_out(at(stub), ["m"]) == Late("no token for its canary within 1 s")


async def test_a_canary_that_cannot_be_sent_has_failed(http: httpx.AsyncClient) -> None:
    async with stub_engine() as gone:
        spec = at(gone)
    seen = await probe_of(http).try_out(spec, ["m"])
    assert isinstance(seen, Sighting)
    assert seen.observation is Observation.CANARY_FAILED
    assert seen.detail.startswith("lost its canary (ConnectError")


async def test_a_model_that_cannot_chat_is_tried_with_a_completion(stub: StubEngine, http: httpx.AsyncClient) -> None:
    stub.answers[CHAT] = (400, {"error": {"message": "no chat template"}})
    stub.answers[COMPLETION] = (200, ANSWER)
    seen = await probe_of(http).try_out(at(stub), ["m"])
    assert isinstance(seen, Sighting)
    assert seen.observation is Observation.CANARY_PASSED
    assert json.loads(stub.asked[-1].body)["prompt"]


async def test_an_engine_that_demands_a_key_is_shown_it_with_everything(
    stub: StubEngine, http: httpx.AsyncClient
) -> None:
    probe = VllmProbe(client=http, expectations=(), settings=RouterSettings(), api_key="secret")
    await probe.look(at(stub))
    await probe.register(at(stub))
    await probe.try_out(at(stub), ["m"])
    assert {each.headers["authorization"] for each in stub.asked} == {"Bearer secret"}
