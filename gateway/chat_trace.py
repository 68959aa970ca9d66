"""One chat completion as a span: ids and figures, never a word of anybody. Costs nothing where nobody traces."""

from collections.abc import Iterator
from contextlib import contextmanager

from gateway.open_chat import OpenChat
from router.domain.exchange import Call
from router.ports import Span, Tracing


class ChatTrace:
    """`header` makes what is done for the chat a child of its span, or of the caller's where nobody traces here."""

    def __init__(self, span: Span | None, header: str) -> None:
        self._span = span
        self.header = header

    def carried(self, call: Call, chat: OpenChat) -> None:
        if self._span is not None:
            self._span.note("request_id", call.request_id)
            self._span.note("model", call.model)
            self._span.note("pin", chat.pin)

    def ended(self, chat: OpenChat) -> None:
        if self._span is not None:
            self._span.note("replica", chat.replica)
            if (spent := chat.spent) is not None:
                self._span.note("prompt_tokens", spent.input_tokens)
                self._span.note("completion_tokens", spent.output_tokens)


@contextmanager
def traced_chat(tracing: Tracing | None, trace_parent: str) -> Iterator[ChatTrace]:
    """What ends it otherwise than well names the span's failure; never its message, which may quote."""
    if tracing is None:
        yield ChatTrace(None, trace_parent)
        return
    span, failed = tracing.start("gateway.chat", parent_header=trace_parent), ""
    try:
        yield ChatTrace(span, span.parent_header)
    except BaseException as error:
        failed = type(error).__name__
        raise
    finally:
        span.end(failed=failed)
