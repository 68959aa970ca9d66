"""One turn as a span: ids and figures, never a word of anybody. Costs nothing where nobody traces."""

from dataclasses import replace

from router.ports import Span, Tracing
from sessions.domain.turn import Turn
from sessions.use_cases.prepare_turn import TurnOrder
from sessions.use_cases.take_turn import BegunTurn


class TurnTrace:
    """Begins with the order and must be ended, however the turn ends."""

    def __init__(self, tracing: Tracing | None, order: TurnOrder) -> None:
        self._span: Span | None = None
        self.order = order
        """The order, with this span as the parent of all that is done for it."""
        if tracing is not None:
            self._span = tracing.start("gateway.turn", parent_header=order.trace_parent)
            self._span.note("session", str(order.session))
            self.order = replace(order, trace_parent=self._span.parent_header)

    def opened(self, turn: BegunTurn) -> None:
        if self._span is not None:
            self._span.note("request_id", f"{self.order.session}-{turn.number}")
            self._span.note("turn", turn.number)
            self._span.note("pin", turn.pin or "")

    def finished(self, turn: Turn) -> None:
        if self._span is not None:
            self._span.note("state", turn.state)
            self._span.note("replica", turn.replica or "")
            self._span.note("continued", int(turn.continued))
            self._span.note("prompt_tokens", turn.usage.prompt_tokens)
            self._span.note("cached_tokens", turn.usage.cached_tokens)
            self._span.note("completion_tokens", turn.usage.completion_tokens)

    def end(self, *, failed: str = "") -> None:
        """`failed` names the refusal or the fault, never its message, which may quote."""
        if self._span is not None:
            self._span.end(failed=failed)
