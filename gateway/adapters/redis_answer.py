"""What is asked of Redis: answered in time, or an error in our words."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from redis.exceptions import RedisError

from gateway.adapters.patience import patience
from gateway.errors import GatewayError

NO_ANSWER: Final = (RedisError, OSError, TimeoutError)


@asynccontextmanager
async def answered(within_s: float, otherwise: GatewayError) -> AsyncIterator[None]:
    """Raise `otherwise` where what the block asks is refused, or not answered within this time."""
    try:
        async with patience(within_s):
            yield
    except NO_ANSWER as error:
        raise otherwise from error
