"""The keys of one issuer, kept fresh in the background.

However many tokens with made-up key ids come in, the issuer is asked at most once in a cool-down, and by one request at
a time; that holds after a failed one too. While it is away the known keys go on, for a bounded time.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.access_ports import KeySource, PublishedKeys
from gateway.domain.remembered import Remembered
from gateway.domain.token_text import WrittenToken
from gateway.errors import KeySetUnavailable, SignInUnavailable, TokenInvalid

_MOST_ABSENT = 1000

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RefreshTimes:
    interval_s: float = 300.0
    """Keys that the issuer takes back are trusted at most this much longer."""
    cooldown_s: float = 30.0
    stale_s: float = 86_400.0
    """How long known keys go on while the issuer is away."""
    patience_s: float = 5.0
    """For one asking, all in all."""


@dataclass(slots=True)
class _Known:
    keys: PublishedKeys
    at: float


class IssuerKeys:
    """`keep` has to run for as long as `check` is called; `ticks` is a clock that never steps back."""

    def __init__(self, *, issuer: str, source: KeySource, times: RefreshTimes, ticks: Callable[[], float]) -> None:
        self._issuer = issuer
        self._source = source
        self._times = times
        self._ticks = ticks
        self._known: _Known | None = None
        self._absent = Remembered[str | None, None](_MOST_ABSENT)
        self._wanted = asyncio.Event()
        self._round_over = asyncio.Event()
        self._is_asking = False
        self._next_at = ticks()
        self.trouble: str | None = "not asked yet"
        """What was wrong the last time."""
        self.version = 0
        """Another number for other keys."""
        self.fetches = 0
        self.failures = 0

    async def check(self, token: WrittenToken) -> None:
        """Raises `TokenInvalid` unless the issuer has signed it, or `SignInUnavailable` when nobody can tell."""
        keys = self._usable()
        if keys is None or not keys.knows(token):
            keys = await self._newer(token)
        if not keys.signed(token):
            raise TokenInvalid("wrong signature")

    async def keep(self) -> None:
        while True:
            await self._ask()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._times.cooldown_s if self.trouble else self._times.interval_s):
                    await self._wanted.wait()

    @property
    def age_s(self) -> float | None:
        """Of the keys that are known."""
        return None if self._known is None else self._ticks() - self._known.at

    def _usable(self) -> PublishedKeys | None:
        known = self._known
        return known.keys if known is not None and self._ticks() - known.at <= self._times.stale_s else None

    async def _newer(self, token: WrittenToken) -> PublishedKeys:
        """Keys that know the token's, after asking for them unless it was lately found that there are none."""
        is_absent = self._absent.get(token.key_id, now=self._ticks()) is not None
        was_asked = (self._usable() is None or not is_absent) and await self._asked_again()
        keys = self._usable()
        if keys is None:
            raise SignInUnavailable(retry_after_s=self._times.cooldown_s)
        if not keys.knows(token):
            if was_asked and self.trouble is None:
                self._absent.put(token.key_id, None, until=self._ticks() + 2 * self._times.cooldown_s)
            raise TokenInvalid("unknown key")
        return keys

    async def _asked_again(self) -> bool:
        """Wait for the asking that goes on, or for a new one; not at all while the latest is too recent."""
        if not self._is_asking:
            if self._ticks() < self._next_at:
                return False
            self._wanted.set()
        await self._round_over.wait()
        return True

    async def _ask(self) -> None:
        self._is_asking = True
        self.fetches += 1
        try:
            async with asyncio.timeout(self._times.patience_s):
                self._take(await self._source.fetch())
        except TimeoutError:
            self._fail(f"no answer within {self._times.patience_s:g} s")
        except KeySetUnavailable as error:
            self._fail(str(error))
        except Exception:  # noqa: BLE001  whatever an issuer publishes, nobody else's sign-in may end by it
            _log.exception("the keys of an issuer could not be read", issuer=self._issuer)
            self._fail("they could not be read")
        finally:
            self._is_asking = False
            self._next_at = self._ticks() + self._times.cooldown_s
            self._wanted.clear()
            over, self._round_over = self._round_over, asyncio.Event()
            over.set()

    def _take(self, keys: PublishedKeys) -> None:
        if self._known is None or self._known.keys.fingerprint != keys.fingerprint:
            self.version += 1
            _log.info("keys of an issuer", issuer=self._issuer, version=self.version)
        self._known, self.trouble = _Known(keys, self._ticks()), None

    def _fail(self, trouble: str) -> None:
        self.failures += 1
        if self.trouble != trouble:
            _log.warning("the keys of an issuer cannot be asked for", issuer=self._issuer, detail=trouble)
        self.trouble = trouble
