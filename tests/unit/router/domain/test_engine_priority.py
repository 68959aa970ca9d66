"""The word that tells vLLM what may wait."""

from dataclasses import replace

import pytest

from router.domain.engine_priority import prioritised
from router.domain.exchange import Call, CallPath

CALL = Call(CallPath.CHAT, b"{}", "m", True, "r-1", (("traceparent", "00-a"),))


def test_the_priority_is_told_beside_what_is_told_already() -> None:
    told = prioritised(CALL, 1)
    assert told == replace(CALL, headers=(("traceparent", "00-a"), ("X-Vllm-Priority", "1")))
    assert prioritised(told, -2).headers == (("traceparent", "00-a"), ("X-Vllm-Priority", "-2"))


@pytest.mark.parametrize("call", [CALL, prioritised(CALL, 3)])
def test_a_turn_s_is_not_worth_a_word(call: Call) -> None:
    assert prioritised(call, 0) is call
