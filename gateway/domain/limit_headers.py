"""How quotas are told in headers: as the IETF's draft of RateLimit fields has it, and as OpenAI's clients expect."""

import math
from collections.abc import Mapping, Sequence

from gateway.errors import QuotaLeft

_REQUESTS = "requests"
_SECOND_MS, _MINUTE_MS = 1000, 60_000


def limit_headers(standing: Sequence[QuotaLeft]) -> Mapping[str, str]:
    """Nothing for an account without quotas. OpenAI knows only one kind of tokens: told is the one of which less is
    left."""
    if not standing:
        return {}
    requests = [quota for quota in standing if quota.name == _REQUESTS]
    tokens = [quota for quota in standing if quota.name != _REQUESTS]
    policies = [f'"{each.name}";q={each.limit};w={math.ceil(each.window_s)}' for each in standing]
    states = [f'"{each.name}";r={each.remaining};t={math.ceil(each.reset_s)}' for each in standing]
    headers = {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)}
    for kind, quotas in ((_REQUESTS, requests), ("tokens", tokens)):
        for quota in sorted(quotas, key=lambda each: each.remaining / each.limit)[:1]:
            headers[f"x-ratelimit-limit-{kind}"] = str(quota.limit)
            headers[f"x-ratelimit-remaining-{kind}"] = str(quota.remaining)
            headers[f"x-ratelimit-reset-{kind}"] = written_duration(quota.reset_s)
    return headers


def written_duration(seconds: float) -> str:
    """As OpenAI writes it: 12ms, 8.64s, 1m3s; rounded up, so that whoever waits for it has waited long enough."""
    milliseconds = math.ceil(seconds * _SECOND_MS)
    if milliseconds < _SECOND_MS:
        return f"{milliseconds}ms"
    if milliseconds < _MINUTE_MS:
        return f"{milliseconds / _SECOND_MS:g}s"
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s"
