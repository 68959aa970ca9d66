"""How vLLM is told what may wait: by a header, so that the body goes as it came."""

from dataclasses import replace
from typing import Final

from router.domain.exchange import Call

_HEADER: Final = "X-Vllm-Priority"
PREWARM: Final = 1
"""Behind the turns, beside other background calls."""


def prioritised(call: Call, priority: int) -> Call:
    """The call at this priority, a lower one going first; 0, which is every turn's, needs no word. The header beats a
    priority in the body, and an engine that does not go by priorities refuses or ignores either.
    """
    others = tuple(header for header in call.headers if header[0] != _HEADER)
    return replace(call, headers=(*others, (_HEADER, str(priority)))) if priority else call
