"""Under which span a call is traced, as its W3C `traceparent` header says."""

from dataclasses import replace

from router.domain.exchange import Call

_NAME = "traceparent"


def trace_parent_of(call: Call) -> str:
    return next((value for name, value in call.headers if name.lower() == _NAME), "")


def with_trace_parent(call: Call, header: str) -> Call:
    """An empty one changes nothing."""
    return replace(call, headers=(*_others(call), (_NAME, header))) if header else call


def without_trace_parent(call: Call) -> Call:
    return replace(call, headers=_others(call))


def _others(call: Call) -> tuple[tuple[str, str], ...]:
    return tuple(each for each in call.headers if each[0].lower() != _NAME)
