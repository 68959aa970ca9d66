"""Chat completions for OpenAI's clients: what is asked for, whether it fits and is let in, and where it goes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

from gateway.chat_moderation import ChatModeration, reply_rules
from gateway.chat_trace import ChatTrace, traced_chat
from gateway.domain.access import Principal
from gateway.domain.cache_salt import cache_salt
from gateway.domain.limits import Claim, Spent
from gateway.domain.openai_messages import ChatMessage, harmless
from gateway.domain.openai_parameters import ParameterPolicy
from gateway.domain.openai_request import AskedChat, affinity_of, asked_chat, cohort_of, engine_body
from gateway.errors import ChatRejected, ContentBlocked, ContextTooLong, GatewayError, ModelNotServed, ServerStopping
from gateway.limit_ports import EffectiveLimits, Gate
from gateway.open_chat import OpenChat
from gateway.openai_ports import CallCarrier, ChatCounter
from router.domain.asks import Asks, Ticket
from router.domain.error_body import error_message
from router.domain.exchange import Call, CallPath
from router.domain.fleet import AffinityKey
from router.domain.pin import Demand
from router.errors import EngineRejected, RouterError
from router.ports import Tracing
from sessions.domain.tiers import Tier
from sessions.domain.viewer import TenantId
from sessions.ports import Tiers

_OF_THE_REQUEST = frozenset({400, 413, 422})
"""What an engine refuses with because of what was asked; anything else it refuses because of how it was set up."""
_OF_THE_WINDOW = frozenset({"input_tokens", "input_text"})
"""How vLLM names what is too long."""


@dataclass(frozen=True, slots=True)
class ChatModel:
    """One served model."""

    name: str
    window_tokens: int
    counter: ChatCounter


@dataclass(frozen=True, slots=True)
class ChatOrder:
    caller: Principal
    body: object
    session: str = ""
    """What the caller calls the session; empty: as the body's `user` says, if it does."""
    trace_parent: str = ""


@dataclass(frozen=True, slots=True)
class ChatWays:
    """Where chat completions go through."""

    tiers: Tiers
    carrier: CallCarrier
    gate: Gate
    limits: EffectiveLimits
    moderation: ChatModeration


@dataclass(frozen=True, slots=True)
class _Plan:
    """What goes to a replica, and what it may cost."""

    call: Call
    session: AffinityKey | None
    asks: Asks
    messages: Sequence[ChatMessage]
    estimate: Spent


class OpenAiChats:
    """`models` are those that are served, the default one first."""

    def __init__(
        self,
        *,
        models: Sequence[ChatModel],
        ways: ChatWays,
        policy: ParameterPolicy,
        is_stopping: Callable[[], bool],
        tracing: Tracing | None = None,
    ) -> None:
        self._models = {model.name: model for model in models}
        self._ways = ways
        self._policy = policy
        self._is_stopping = is_stopping
        self._tracing = tracing

    @property
    def models(self) -> tuple[ChatModel, ...]:
        return tuple(self._models.values())

    async def model(self, caller: Principal, name: str) -> ChatModel:
        """The one of this name, or the one that does this kind of the tenant's work now.

        Raises `ModelNotServed`, `PoolUnavailable` or `RecordsUnavailable`.
        """
        if name in self._models:
            return self._models[name]
        if name not in set(Tier):
            raise ModelNotServed(name)
        chosen = await self._ways.tiers.choose(Tier(name), TenantId(caller.tenant), {})
        return self._models[chosen.model]

    @asynccontextmanager
    async def open(self, order: ChatOrder) -> AsyncIterator[OpenChat]:
        """Entered once a replica has taken it, before any token; leaving stops the engine and settles what it cost.

        Raises `FieldInvalid`, `ParameterUnsupported`, `ChatRejected`, `ContextTooLong`, `ServerStopping`, and what
        `model`, `Gate.admit` and the router raise; then nothing is counted.
        """
        if self._is_stopping():
            raise ServerStopping("this server is shutting down")
        with traced_chat(self._tracing, order.trace_parent) as trace:
            async with self._open(replace(order, trace_parent=trace.header), trace) as chat:
                yield chat

    @asynccontextmanager
    async def _open(self, order: ChatOrder, trace: ChatTrace) -> AsyncIterator[OpenChat]:
        asked, caller, ways = asked_chat(order.body, self._policy), order.caller, self._ways
        model = await self.model(caller, asked.model)
        limits = await ways.limits.of_account(caller.tenant, caller.account)
        rules = await ways.moderation.rules(TenantId(caller.tenant))
        try:
            asked = await ways.moderation.passed(rules, asked)
        except ContentBlocked:
            # It has cost nothing but one of the account's requests.
            async with ways.gate.admit(Claim(caller.tenant, caller.account, limits, 0, 0)) as admission:
                admission.settle(Spent(0, 0))
            raise
        plan = await _plan(order, asked, model)
        claim = Claim(caller.tenant, caller.account, limits, plan.estimate.input_tokens, plan.estimate.output_tokens)
        async with ways.gate.admit(claim) as admission, reply_rules(rules, plan.messages) as checks:
            try:
                carried = await ways.carrier.carry(plan.call, session=plan.session, asks=plan.asks)
            except EngineRejected as error:
                raise _as_told(error, plan, model) from error
            chat = OpenChat(
                carried,
                asked,
                rules=checks,
                estimate=plan.estimate,
                standing=admission.standing,
                count=model.counter.count_once,
            )
            trace.carried(plan.call, chat)
            try:
                yield chat
                await chat.see_off()
            finally:
                carried.close()
                trace.ended(chat)
                if (spent := chat.spent) is not None:
                    admission.settle(spent)


async def _plan(order: ChatOrder, asked: AskedChat, model: ChatModel) -> _Plan:
    """Raises `ContextTooLong`."""
    tenant, account = order.caller.tenant, order.caller.account
    messages = harmless(asked.messages, model.counter.special_tokens)
    estimate = await _estimate(asked, messages, model)
    name = order.session or asked.user
    session = AffinityKey(affinity_of(tenant, name)) if name else None
    headers = (("X-Session-ID", session or ""), ("traceparent", order.trace_parent))
    call = Call(
        path=CallPath.CHAT,
        body=engine_body(
            asked,
            model=model.name,
            messages=messages,
            max_tokens=estimate.output_tokens,
            cache_salt=cache_salt(tenant),
            template_arguments=model.counter.template_arguments,
        ),
        model=model.name,
        is_streamed=asked.is_streamed,
        # Never the caller's own id: two requests of one name would be one to the engine.
        request_id=f"chat-{uuid4().hex}",
        headers=tuple((header, value) for header, value in headers if value),
    )
    kv_tokens = estimate.input_tokens + estimate.output_tokens
    asks = Asks(Demand(kv_tokens, cohort_of(tenant, messages)), ticket=Ticket(account=str(account)))
    return _Plan(call, session, asks, messages, estimate)


async def _estimate(asked: AskedChat, messages: Sequence[ChatMessage], model: ChatModel) -> Spent:
    """The prompt as it is counted, and the most that the reply may have beside it.

    Where the chat template refuses the messages, only the engine can say why: it is asked then.
    """
    counter, tools = model.counter, asked.parameters.get("tools")
    # A long prompt takes a while, in which others are served.
    exact = await asyncio.to_thread(counter.count_chat, messages, tools)
    if exact is None:
        rough = await asyncio.to_thread(counter.count_once, json.dumps([messages, tools], ensure_ascii=False))
        return Spent(rough, min(asked.reply_tokens, max(1, model.window_tokens - rough)))
    room = model.window_tokens - exact
    if room < 1:
        raise ContextTooLong(tokens=exact, limit=model.window_tokens)
    return Spent(exact, min(asked.reply_tokens, room))


def _as_told(error: EngineRejected, plan: _Plan, model: ChatModel) -> GatewayError | RouterError:
    if error.status not in _OF_THE_REQUEST:
        return error
    told = _error_of(error.body)
    named = told.get("param")
    param = named if isinstance(named, str) else None
    if param in _OF_THE_WINDOW:
        return ContextTooLong(tokens=plan.estimate.input_tokens, limit=model.window_tokens)
    return ChatRejected(error_message({"error": told}), param=param)


def _error_of(body: bytes) -> Mapping[str, object]:
    try:
        told: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = told.get("error", told) if isinstance(told, dict) else None
    return error if isinstance(error, dict) else {}
