"""The steps by which one replica is warmed up: it says what it is, answers the canary, computes prefixes."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.fleet import ReplicaSpec
from router.fleet.adapters.engine_chat import EngineChat, NotNow, Refused, Reply
from router.fleet.domain.demand import PoolName
from router.fleet.domain.warmth import Prefix
from router.fleet.ports import Canaries

# Greedy, and of words that follow from each other: what is no fault should not change it.
_QUESTION: Final = "Repeat this sentence word for word: The quick brown fox jumps over the lazy dog."
_CANARY: Final[Mapping[str, object]] = {
    "messages": [{"role": "user", "content": _QUESTION}],
    "max_tokens": 16,
    "temperature": 0,
    "seed": 1,
}
_ONE_TOKEN: Final[Mapping[str, object]] = {"max_tokens": 1, "temperature": 0}

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WarmthTimes:
    page_s: float = 5.0
    canary_s: float = 180.0
    """An engine may well compile what it needs at its first chat."""
    prefix_s: float = 120.0
    again_s: float = 1.0
    """From what failed to the next try."""
    alive_every_s: float = 10.0
    """Between two questions to one that serves."""
    alive_s: float = 20.0
    forgotten_s: float = 120.0
    """A replica that nobody has asked about for so long is another controller's, or gone."""


class NotThePools(Exception):
    """It must not serve."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The same chat twice."""

    cold: Reply
    warm: Reply


class WarmUp:
    """Every step raises `NotNow` for what may be otherwise later."""

    def __init__(self, *, chat: EngineChat, canaries: Canaries, times: WarmthTimes) -> None:
        self._chat = chat
        self._canaries = canaries
        self._times = times

    async def answers(self, replica: ReplicaSpec) -> None:
        await self._chat.page(replica.url, "/health", within_s=self._times.page_s)

    async def model(self, replica: ReplicaSpec) -> str:
        """What it is asked for; raises `NotThePools` where it serves something else."""
        return (await self._listed(replica))[0]

    async def canary(self, replica: ReplicaSpec, *, salt: str) -> Reply:
        """What it says to the fixed question; raises `NotThePools`, or `LedgerUnavailable`. With a new `salt` it is
        computed from the beginning, as it was for those it is compared with.
        """
        model, listed = await self._listed(replica)
        # All that an answer may depend on, as far as the engine tells.
        facts = [model, await self._version(replica), listed.get("max_model_len"), listed.get("root")]
        fingerprint = hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()
        reply = await self._ask_canary(replica, model, salt)
        hearing = await self._canaries.hear(PoolName(model), fingerprint, digest_of(reply), replica.id)
        if hearing.outvoted is not None:
            _log.warning("the pool's canary answer is another now", pool=model, outvoted=hearing.outvoted)
        if not hearing.is_right:
            raise NotThePools("its canary answer is not the pool's")
        return reply

    async def canary_again(self, replica: ReplicaSpec, *, salt: str) -> Reply:
        return await self._ask_canary(replica, await self.model(replica), salt)

    async def compute(self, replica: ReplicaSpec, prefix: Prefix) -> Measured:
        """Have it compute and keep the prefix; raises `Refused`."""
        wanted = {**_ONE_TOKEN, "messages": [dict(message) for message in prefix.messages]}
        if prefix.cache_salt:
            wanted["cache_salt"] = prefix.cache_salt
        if prefix.template_arguments:
            wanted["chat_template_kwargs"] = dict(prefix.template_arguments)
        wanted["model"] = await self.model(replica)
        cold = await self._ask(replica, wanted, within_s=self._times.prefix_s)
        warm = await self._ask(replica, wanted, within_s=self._times.prefix_s)
        return Measured(cold, warm)

    async def generates(self, replica: ReplicaSpec) -> bool | None:
        """Whether a token comes from it; None: it cannot be told. One that is busy with others' turns generates too,
        whatever becomes of this question.
        """
        before = await self._tokens(replica)
        try:
            hello = {**_ONE_TOKEN, "messages": [{"role": "user", "content": "Hello"}]}
            hello["model"] = min(replica.models) if replica.models else await self.model(replica)
            await self._ask(replica, hello, within_s=self._times.alive_s)
        except (Refused, NotThePools):
            return None
        except NotNow as error:
            after = None if before is None else await self._tokens(replica)
            if before is not None and after is not None and after > before:
                return True
            return None if error.is_full else False
        return True

    async def _listed(self, replica: ReplicaSpec) -> tuple[str, Mapping[str, object]]:
        listed = _models(await self._chat.json(replica.url, "/v1/models", within_s=self._times.page_s))
        if not listed:
            raise NotNow("lists no model")
        model = min(replica.models or listed)
        if model not in listed:
            raise NotThePools(f"lists {', '.join(sorted(listed))}, not {model}")
        return model, listed[model]

    async def _version(self, replica: ReplicaSpec) -> object:
        try:
            told = await self._chat.json(replica.url, "/version", within_s=self._times.page_s)
        except NotNow:
            return None
        return told.get("version") if isinstance(told, dict) else None

    async def _tokens(self, replica: ReplicaSpec) -> int | None:
        return await self._chat.tokens(replica.url, within_s=self._times.page_s)

    async def _ask_canary(self, replica: ReplicaSpec, model: str, salt: str) -> Reply:
        wanted = {**_CANARY, "model": model, "cache_salt": salt}
        try:
            return await self._ask(replica, wanted, within_s=self._times.canary_s)
        except Refused as error:
            raise NotThePools(f"refuses its canary with {error}") from error

    async def _ask(self, replica: ReplicaSpec, wanted: Mapping[str, object], *, within_s: float) -> Reply:
        return await self._chat.chat(replica.url, wanted, name=f"warm-up-{replica.id}", within_s=within_s)


def digest_of(reply: Reply) -> str:
    return hashlib.sha256(json.dumps([reply.text, reply.finish]).encode()).hexdigest()


def _models(body: object) -> dict[str, Mapping[str, object]]:
    listed = body.get("data") if isinstance(body, dict) else None
    entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {each["id"]: each for each in entries if isinstance(each.get("id"), str) and each["id"].isprintable()}
