"""What is asked of Redis, and what becomes of an answer that does not come."""

import asyncio

import pytest
from redis.exceptions import RedisError

from gateway.adapters.redis_answer import answered
from gateway.errors import TicketsUnavailable


@pytest.mark.parametrize("error", [RedisError("no"), ConnectionRefusedError(), TimeoutError()])
async def test_whatever_redis_fails_by_is_told_in_our_words(error: Exception) -> None:
    with pytest.raises(TicketsUnavailable, match="not now") as told:
        async with answered(1.0, TicketsUnavailable("not now")):
            raise error
    assert told.value.__cause__ is error


async def test_who_does_not_answer_in_time_is_away() -> None:
    with pytest.raises(TicketsUnavailable):
        async with answered(0.02, TicketsUnavailable("not now")):
            await asyncio.Event().wait()


async def test_an_error_of_ours_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError):
        async with answered(1.0, TicketsUnavailable("not now")):
            raise KeyError
