"""Replies of real vLLM whose replica is lost at some token: what was told before is gone on with, as if nothing were.

The lines to the replicas are cut, which is quick, so that many places can be tried; some replicas are killed.
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.cut_line import CutLine, cut_line
from tests.support.router_process import RouterProcess
from tests.vllm.conftest import PATIENCE_S, RealStack

pytestmark = pytest.mark.vllm

ENGLISH = "Write a short story about a lost order, a rainy day and a patient clerk."
MANY_BYTES = "Repeat this line exactly three times: 你好，世界！🙂👩‍👩‍👧 Grüß Gott — 订单在哪里？"
TOKENS = 48
PLACES = (2, 3, 8, 13, 14, 21, 33)
KILLED_AT = (5, 25)
PATIENT = (
    "breaker_failures=100",
    "canary_timeout_s=60",
    "probe_timeout_s=30",
    "chunk_timeout_s=60",
    "connect_timeout_s=15",
)
"""A replica is lost when a test says so, and not because the machine has other work."""
AS_GOOD = 1.0
"""By how much less likely, as a logarithm, a token may be than the model's first choice and still be taken for it: in
16 bits, what is computed at once differs a little from what is computed token by token.
"""


@dataclass(slots=True)
class Heard:
    prompt: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    finish: str | None = None
    usage: tuple[int, int] | None = None
    is_done: bool = False
    joints: int = 0
    pieces: list[str] = field(default_factory=list)
    """The text of each event; tokens that end within a character bring none."""
    before: str = ""
    """What had been heard when another replica took over."""

    def line(self, line: str) -> None:
        if line.startswith(":") and "continued" in line:
            self.joints += 1
            self.before = self.text
        if not line.startswith("data: "):
            return
        if line == "data: [DONE]":
            self.is_done = True
            return
        document = json.loads(line.removeprefix("data: "))
        assert "error" not in document, document
        if usage := document.get("usage"):
            self.usage = usage["prompt_tokens"], usage["completion_tokens"]
        self.prompt = document.get("prompt_token_ids") or self.prompt
        for choice in document["choices"]:
            self.pieces.append(choice["delta"].get("content") or "")
            self.ids += choice.get("token_ids") or []
            self.finish = choice["finish_reason"] or self.finish

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class Pair:
    """Two replicas by lines of their own, and a router of ours in front of them."""

    stack: RealStack
    lines: dict[str, CutLine]
    client: httpx.AsyncClient
    model: str

    @property
    def witness(self) -> "Witness":
        return Witness(self.stack.ready["replicas"][0]["url"], self.model)

    async def ask(self, prompt: str, session: str, **options: object) -> Heard:
        """A whole reply."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": TOKENS,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **options,
        }
        heard = Heard()
        headers = {"X-Session-ID": session}
        async with self.client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as answer:
            assert answer.is_success, await answer.aread()
            async for line in answer.aiter_lines():
                heard.line(line)
        return heard

    def lose_replica(self, *, after: int, how: Callable[[str], None]) -> None:
        """The one that answers next: what it says behind so many events does not come."""

        def lose(name: str) -> None:
            for line in self.lines.values():
                line.pass_all()
            how(name)

        for name, line in self.lines.items():
            line.pass_only(after, partial(lose, name))

    def cut(self, name: str) -> None:
        self.lines[name].cut()

    def mend(self) -> None:
        for line in self.lines.values():
            line.mend()

    def kill(self, name: str) -> None:
        os.kill(self.stack.ready["pids"][name], signal.SIGKILL)

    async def whole(self) -> None:
        """Until both replicas are ready again and no breaker is open."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            seen = (await self.client.get("/replicas")).json()["replicas"]
            if all(each["health"] == "ready" for each in seen):
                return
            assert time.monotonic() < deadline, seen
            await asyncio.sleep(0.2)


@pytest.fixture
async def pair(stack: RealStack, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Pair]:
    """`request.param`: whether the router asks for token ids."""
    async with AsyncExitStack() as entered:
        lines = {
            each["id"]: await entered.enter_async_context(cut_line(urlsplit(each["url"]).port or 0))
            for each in stack.ready["replicas"]
        }
        words = [word for name, line in lines.items() for word in ("--replica", f"{name}={line.url}")]
        told = "true" if request.param else "false"
        settings = [word for each in (f"token_ids={told}", *PATIENT) for word in ("--set", each)]
        router = RouterProcess(*words, *settings, log=tmp_path / "router.log")
        entered.callback(router.kill)
        await asyncio.to_thread(router.start)
        client = httpx.AsyncClient(base_url=router.url, trust_env=False, timeout=120)
        await entered.enter_async_context(client)
        models = (await client.get("/v1/models")).json()["data"]
        yield Pair(stack, lines, client, models[0]["id"])


@dataclass(frozen=True, slots=True)
class Witness:
    """A replica of its own accord, which says what tokens mean and how well each follows those before it."""

    url: str
    model: str

    async def confirms(self, heard: Heard, *, is_greedy: bool = True) -> None:
        """The tokens are all of one reply, none missing, none twice; the text is theirs, and so are the counts."""
        assert heard.is_done
        assert heard.usage == (len(heard.prompt), len(heard.ids))
        assert heard.finish == ("length" if len(heard.ids) == TOKENS else "stop")
        async with httpx.AsyncClient(base_url=self.url, trust_env=False, timeout=120) as client:
            assert await self._text(client, heard) == heard.text
            assert not is_greedy or max(await self._lags(client, heard)) < AS_GOOD

    async def _text(self, client: httpx.AsyncClient, heard: Heard) -> str:
        ids = heard.ids if heard.finish == "length" else heard.ids[:-1]
        answer = await client.post("/detokenize", json={"model": self.model, "tokens": ids})
        # Of half a character at the end no reply tells.
        return str(answer.raise_for_status().json()["prompt"]).rstrip("\ufffd")

    async def _lags(self, client: httpx.AsyncClient, heard: Heard) -> list[float]:
        prompt = [*heard.prompt, *heard.ids]
        body = {"model": self.model, "prompt": prompt, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 1}
        answer = await client.post("/v1/completions", json=body)
        told = answer.raise_for_status().json()["choices"][0]["prompt_logprobs"][len(heard.prompt) :]
        return [
            max(one["logprob"] for one in likely.values()) - likely[str(number)]["logprob"]
            for number, likely in zip(heard.ids, told, strict=True)
        ]


async def lost_at_each_place(
    pair: Pair, prompt: str, *, places: Sequence[int] = PLACES, how: Callable[[str], None], **options: object
) -> list[Heard]:
    """What was heard where the replica is lost after so many events."""
    undisturbed = await pair.ask(prompt, "undisturbed", **options)
    assert (undisturbed.finish in {"stop", "length"}, undisturbed.is_done, undisturbed.joints) == (True, True, 0)
    replies = []
    for place in (each for each in places if any(undisturbed.pieces[:each]) and each < len(undisturbed.pieces)):
        await pair.whole()
        pair.lose_replica(after=place, how=how)
        heard = await pair.ask(prompt, f"lost-{place}", **options)
        pair.mend()
        if not heard.joints and heard.is_done and len(heard.pieces) <= place:
            continue  # drawn anew it was shorter, and nothing was lost
        assert heard.joints == 1, place
        assert heard.before, place
        assert heard.usage is not None
        assert undisturbed.usage is not None
        # Without ids an event counts as one token, and a replica that lags puts as many into one as there are.
        miscounted = 0 if heard.ids else TOKENS - place
        assert abs(heard.usage[0] - undisturbed.usage[0]) <= miscounted
        replies.append(heard)
    assert replies
    return replies


@pytest.mark.parametrize("pair", [True], indirect=True)
async def test_a_line_that_is_cut_at_any_token_costs_no_token(pair: Pair) -> None:
    for heard in await lost_at_each_place(pair, ENGLISH, how=pair.cut, return_token_ids=True):
        await pair.witness.confirms(heard)


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("pair", [True], indirect=True)
async def test_a_line_that_is_cut_within_a_character_costs_no_byte(pair: Pair, at_once: int) -> None:
    """Of several tokens that come at once, as those of a busy replica do, nobody says where their text ends."""
    options: dict[str, Any] = {"return_token_ids": True, "stream_interval": at_once}
    for heard in await lost_at_each_place(pair, MANY_BYTES, how=pair.cut, **options):
        await pair.witness.confirms(heard)


@pytest.mark.parametrize("pair", [True], indirect=True)
async def test_sampled_tokens_that_came_at_once_are_gone_on_from_too(pair: Pair) -> None:
    """They would not come out the same again: another replica is asked where their text ends."""
    options: dict[str, Any] = {"return_token_ids": True, "temperature": 0.7, "seed": 5, "stream_interval": 3}
    for heard in await lost_at_each_place(pair, MANY_BYTES, how=pair.cut, **options):
        await pair.witness.confirms(heard, is_greedy=False)


@pytest.mark.parametrize("pair", [False], indirect=True)
@pytest.mark.parametrize("prompt", [ENGLISH, MANY_BYTES], ids=["english", "many bytes"])
async def test_by_its_text_alone_a_reply_goes_on_where_it_was(pair: Pair, prompt: str) -> None:
    """How many tokens it had is not known exactly then, since two that came in one event look like one. Nor does the
    model have to choose the same ones again.
    """
    for heard in await lost_at_each_place(pair, prompt, how=pair.cut):
        assert (heard.finish in {"stop", "length"}, heard.is_done) == (True, True)
        assert "\ufffd" not in heard.text


@pytest.mark.parametrize("pair", [True], indirect=True)
async def test_kill_9_in_the_middle_of_a_reply_costs_no_token(pair: Pair) -> None:
    lost = await lost_at_each_place(pair, ENGLISH, places=KILLED_AT, how=pair.kill, return_token_ids=True)
    assert len(lost) == len(KILLED_AT)
    for heard in lost:
        await pair.witness.confirms(heard)
