"""What a prewarm is: the session's own prompt, asked for one token, so that a replica computes and keeps its prefix."""

import json
from dataclasses import replace
from typing import Final

from router.domain.exchange import Call
from router.domain.trace_parent import without_trace_parent

# What decides over the reply and not over the prompt. Some of it cannot go with one token (more tokens at least,
# several choices), some costs the engine work (grammars, log probabilities), and log probabilities of the prompt would
# even make vLLM compute the prefix without looking into its cache.
_OF_THE_REPLY: Final = frozenset(
    {
        "best_of",
        "echo",
        "guided_choice",
        "guided_grammar",
        "guided_json",
        "guided_regex",
        "logit_bias",
        "logprobs",
        "min_tokens",
        "n",
        "prompt_logprobs",
        "request_id",
        "response_format",
        "return_token_ids",
        "stop",
        "stop_token_ids",
        "stream_options",
        "structured_outputs",
        "top_logprobs",
        "use_beam_search",
    }
)


def prewarm_call(call: Call) -> Call:
    """The call with all that shapes the prompt, for one token and in one piece.

    Tools stay, since they are part of the prompt; that one be called is no longer demanded. Raises `ValueError` when
    the body is no JSON.
    """
    asked: dict[str, object] = json.loads(call.body)
    body = {name: value for name, value in asked.items() if name not in _OF_THE_REPLY}
    body |= {"max_tokens": 1, "stream": False}
    if "max_completion_tokens" in body:
        body["max_completion_tokens"] = 1
    if body.get("tool_choice") not in (None, "auto", "none"):
        body["tool_choice"] = "none"
    _step_back(body)
    return replace(
        without_trace_parent(call),
        # In ASCII, so that halves of surrogate pairs, which JSON may hold and UTF-8 may not, come out as they came in.
        body=json.dumps(body, separators=(",", ":")).encode(),
        is_streamed=False,
        request_id=f"prewarm-{call.request_id}",
    )


def allowed_at_once(turns: int, share: float) -> int:
    """How many prewarms a replica may compute beside so many turns; a share of 0 switches them off.

    One at a time keeps an otherwise idle engine's prefill busy already; more would only stand in the engine's queue
    before the next trainee. Beside turns they may be so many that they take their share of the batch and no more.
    """
    return max(1, int(share * turns)) if share > 0 else 0


def _step_back(body: dict[str, object]) -> None:
    """Behind the turns, where the engine goes by priorities: it is known to when the caller gives one that is not 0.

    An engine that does not refuses a request with one.
    """
    priority = body.get("priority")
    if isinstance(priority, int) and priority:
        body["priority"] = priority + 1
