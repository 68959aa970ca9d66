"""Replies of real vLLM whose replica is lost at some token: what was told before is gone on with, as if nothing were.

The lines to the replicas are cut, which is quick, so that many places can be tried; some replicas are killed.
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.cut_line import CutLine, cut_line
from tests.support.router_process import RouterProcess
from tests.vllm.conftest import RealStack

pytestmark = pytest.mark.vllm

ENGLISH = "Write a short story about a lost order, a rainy day and a patient clerk."
MANY_BYTES = "Repeat this line exactly three times: 你好，世界！🙂👩‍👩‍👧 Grüß Gott — 订单在哪里？"
TOKENS = 48
PLACES = (1, 2, 7, 19, 33)
KILLED_AT = (5, 25)
MISCOUNTED = 4


@dataclass(slots=True)
class Heard:
    text: str = ""
    ids: list[int] = field(default_factory=list)
    finish: str | None = None
    usage: tuple[int, int] | None = None
    is_done: bool = False
    replica: str = ""
    joints: int = 0
    pieces: int = 0
    before: str = ""
    """What had been heard when the replica was lost."""

    def line(self, line: str) -> bool:
        """Whether it brought text."""
        self.joints += line.startswith(":") and "continued" in line
        if not line.startswith("data: "):
            return False
        if line == "data: [DONE]":
            self.is_done = True
            return False
        document = json.loads(line.removeprefix("data: "))
        assert "error" not in document, document
        if usage := document.get("usage"):
            self.usage = usage["prompt_tokens"], usage["completion_tokens"]
        piece = ""
        for choice in document["choices"]:
            piece += choice["delta"].get("content") or ""
            self.ids += choice.get("token_ids") or []
            self.finish = choice["finish_reason"] or self.finish
        self.text += piece
        return bool(piece)


@dataclass(slots=True)
class Pair:
    """Two replicas by lines of their own, and a router of ours in front of them."""

    stack: RealStack
    lines: dict[str, CutLine]
    client: httpx.AsyncClient
    model: str

    async def ask(
        self,
        prompt: str,
        session: str,
        *,
        ids: bool,
        after: int | None = None,
        then: Callable[[str], None] = lambda _: None,
    ) -> Heard:
        """A whole reply; once so many pieces have come `then` is told its replica."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": TOKENS,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **({"return_token_ids": True} if ids else {}),
        }
        heard = Heard()
        headers = {"X-Session-ID": session}
        async with self.client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as answer:
            assert answer.is_success, await answer.aread()
            heard.replica = answer.headers["x-replica-id"]
            async for line in answer.aiter_lines():
                heard.pieces += heard.line(line)
                if heard.pieces == after:
                    heard.before = heard.text
                    then(heard.replica)
                    after = None
        return heard

    async def whole(self) -> None:
        """Until both replicas are ready again and no breaker is open."""
        deadline = time.monotonic() + 180
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
        settings = ("--set", f"token_ids={told}", "--set", "breaker_failures=100", "--set", "canary_timeout_s=30")
        router = RouterProcess(*words, *settings, log=tmp_path / "router.log")
        entered.callback(router.kill)
        await asyncio.to_thread(router.start)
        client = httpx.AsyncClient(base_url=router.url, trust_env=False, timeout=120)
        await entered.enter_async_context(client)
        models = (await client.get("/v1/models")).json()["data"]
        yield Pair(stack, lines, client, models[0]["id"])


async def cut_at_each_place(pair: Pair, prompt: str, *, ids: bool) -> list[tuple[Heard, Heard]]:
    """What was heard with the line cut there, beside what is heard undisturbed."""
    undisturbed = await pair.ask(prompt, "undisturbed", ids=ids)
    assert (undisturbed.finish in {"stop", "length"}, undisturbed.is_done, undisturbed.joints) == (True, True, 0)
    pairs = []
    # What comes last is on its way before the line is cut.
    for place in (each for each in PLACES if each < undisturbed.pieces - 3):
        await pair.whole()
        heard = await pair.ask(prompt, f"cut-{place}", ids=ids, after=place, then=lambda name: pair.lines[name].cut())
        for line in pair.lines.values():
            line.mend()
        assert heard.joints == 1, place
        pairs.append((heard, undisturbed))
    return pairs


def is_as_undisturbed(heard: Heard, undisturbed: Heard) -> None:
    assert undisturbed.text.startswith(heard.before)
    assert heard.text == undisturbed.text
    assert (heard.finish, heard.is_done, heard.usage) == (undisturbed.finish, True, undisturbed.usage)


@pytest.mark.parametrize("pair", [True], indirect=True)
async def test_a_line_that_is_cut_at_any_token_costs_no_token(pair: Pair) -> None:
    for heard, undisturbed in await cut_at_each_place(pair, ENGLISH, ids=True):
        is_as_undisturbed(heard, undisturbed)
        assert heard.ids == undisturbed.ids


@pytest.mark.parametrize("pair", [True], indirect=True)
async def test_a_line_that_is_cut_within_a_character_costs_no_byte(pair: Pair) -> None:
    for heard, undisturbed in await cut_at_each_place(pair, MANY_BYTES, ids=False):
        is_as_undisturbed(heard, undisturbed)


@pytest.mark.parametrize("pair", [False], indirect=True)
@pytest.mark.parametrize("prompt", [ENGLISH, MANY_BYTES], ids=["english", "many bytes"])
async def test_by_its_text_alone_a_reply_goes_on_where_it_was(pair: Pair, prompt: str) -> None:
    """How many tokens it had is not known exactly then, since two that came in one event look like one. Nor does the
    model have to choose the same ones again.
    """
    for heard, undisturbed in await cut_at_each_place(pair, prompt, ids=False):
        assert heard.before
        assert heard.text.startswith(heard.before)
        assert (heard.finish in {"stop", "length"}, heard.is_done) == (True, True)
        assert "\ufffd" not in heard.text
        assert heard.usage is not None
        assert undisturbed.usage is not None
        assert abs(heard.usage[0] - undisturbed.usage[0]) <= MISCOUNTED


@pytest.mark.parametrize("pair", [True], indirect=True)
async def test_kill_9_in_the_middle_of_a_reply_costs_no_token(pair: Pair) -> None:
    undisturbed = await pair.ask(ENGLISH, "undisturbed", ids=True)
    for place in KILLED_AT:
        await pair.whole()
        heard = await pair.ask(
            ENGLISH,
            f"killed-{place}",
            ids=True,
            after=place,
            then=lambda name: os.kill(pair.stack.ready["pids"][name], signal.SIGKILL),
        )
        assert heard.joints == 1
        is_as_undisturbed(heard, undisturbed)
        assert heard.ids == undisturbed.ids
