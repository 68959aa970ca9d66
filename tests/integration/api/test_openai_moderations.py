"""POST /v1/moderations, asked with OpenAI's own client."""

from collections.abc import AsyncIterator

import openai
import pytest

from tests.integration.api.house import House
from tests.integration.api.test_openai_client import client_of


@pytest.fixture
async def client(house: House) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(house) as opened:
        yield opened


async def in_force(house: House) -> None:
    phrases = [{"text": "sesame", "category": "violence"}, {"text": "pepper", "category": "spices", "action": "mask"}]
    body = {"name": "kitchen", "phrases": phrases, "live": True}
    assert (await house.here.instructor.post("/v1/moderation/lists", json=body)).status_code == 201


async def test_each_text_has_its_result(house: House, client: openai.AsyncOpenAI) -> None:
    await in_force(house)
    answer = await client.moderations.create(input=["Hello", "open se\u200bsame", "salt and pepper"])
    assert [result.flagged for result in answer.results] == [False, True, True]
    clean, violent, spicy = (result.categories.model_dump(by_alias=True) for result in answer.results)
    assert not any(clean.values())
    assert [name for name, found in violent.items() if found] == ["violence"]
    assert [name for name, found in spicy.items() if found] == ["spices"]
    assert answer.results[1].category_scores.violence == 1.0
    assert answer.results[1].category_applied_input_types.violence == ["text"]
    assert answer.id.startswith("modr-")


async def test_one_text_and_parts_of_one(house: House, client: openai.AsyncOpenAI) -> None:
    await in_force(house)
    (one,) = (await client.moderations.create(model="omni-moderation-latest", input="sesame")).results
    assert one.flagged
    parts: list[openai.types.ModerationTextInputParam] = [
        {"type": "text", "text": "Hello"},
        {"type": "text", "text": "sesame"},
    ]
    (together,) = (await client.moderations.create(input=parts)).results
    assert together.categories.violence


async def test_what_cannot_be_judged_is_told_in_openais_shape(house: House, client: openai.AsyncOpenAI) -> None:
    picture: openai.types.ModerationImageURLInputParam = {"type": "image_url", "image_url": {"url": "http://x/y.png"}}
    with pytest.raises(openai.BadRequestError) as refused:
        await client.moderations.create(input=[picture])
    assert (refused.value.code, refused.value.param) == ("invalid_request", "input.0")
    with pytest.raises(openai.BadRequestError) as empty:
        await client.moderations.create(input=" ")
    assert empty.value.code == "text_empty"
    trainee = await house.here.trainee.post("/v1/moderations", json={"input": "sesame"})
    assert (trainee.status_code, trainee.json()["error"]["code"]) == (403, "forbidden")
    for raw, status in ((b"{", 400), (b"[]", 400), (b'{"input": "a", "stream": true}', 400)):
        headers = {"Content-Type": "application/json"}
        assert (await house.here.service.post("/v1/moderations", content=raw, headers=headers)).status_code == status
    typed = await house.here.service.post("/v1/moderations", content=b"x", headers={"Content-Type": "text/plain"})
    assert typed.status_code == 415
