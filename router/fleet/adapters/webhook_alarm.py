"""Tells a webhook that replicas are missing, and when they are there. Its address may hold a secret: nobody sees it."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

import httpx
from typing_extensions import override

from router.fleet.domain.demand import PoolName
from router.fleet.domain.scaling import Alert
from router.fleet.errors import AlarmNotHeard
from router.fleet.ports import Alarm


class WebhookAlarm(Alarm):
    """One POST for each; whoever asks again tells it again."""

    def __init__(self, *, client: httpx.AsyncClient, url: str, timeout_s: float = 5.0) -> None:
        self._client = client
        self._url = url
        self._timeout_s = timeout_s

    @override
    async def short(self, pool: PoolName, alert: Alert) -> None:
        bell = _told(alert.bell)
        await self._tell(_body("pool_short", pool, alert, f"{pool}: {alert} for the bell at {bell}"))

    @override
    async def over(self, pool: PoolName, alert: Alert) -> None:
        await self._tell(_body("pool_ready", pool, alert, f"{pool}: the replicas that were missing are no longer"))

    async def _tell(self, body: Mapping[str, object]) -> None:
        post = self._client.stream("POST", self._url, json=dict(body), follow_redirects=False, timeout=self._timeout_s)
        try:
            # A round waits for this: each byte of a head may take as long as is allowed, and a body may never end.
            async with asyncio.timeout(self._timeout_s), post as answer:
                is_heard, status = answer.is_success, answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            # Its words may repeat the address.
            raise AlarmNotHeard(f"the webhook cannot be reached ({type(error).__name__})") from None
        if not is_heard:
            raise AlarmNotHeard(f"the webhook answered {status}")


def _body(event: str, pool: PoolName, alert: Alert, text: str) -> Mapping[str, object]:
    """`text` alone is what chat services show."""
    return {
        "event": event,
        "text": text,
        "pool": pool,
        "bell": _told(alert.bell),
        "ready": alert.ready,
        "needed": alert.needed,
    }


def _told(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
