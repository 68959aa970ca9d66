"""How this process writes its log: one line an event, on standard error, as JSON or for a console."""

import logging
import sys
from typing import TextIO

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def set_up(*, level: str, layout: str, stream: TextIO | None = None) -> None:
    """Send our own events and those of libraries through one formatter; `layout` is json or console."""
    out = stream if stream is not None else sys.stderr
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        _without_colors,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, *_rendered(layout, colors=out.isatty())],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_rendered(layout, colors=out.isatty()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(_LEVELS[level])
    for talkative in ("httpx", "httpcore", "asyncio"):  # they write a line per request
        logging.getLogger(talkative).setLevel(logging.WARNING)
    # It writes a line for every batch that a collector does not take; our own exporter says so once, and counts.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)


def _without_colors(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The web server says some lines twice in one, the second time with the codes of a terminal."""
    event.pop("color_message", None)
    return event


def _rendered(layout: str, *, colors: bool) -> list[Processor]:
    if layout == "console":
        # The plain traceback: the rich one prints local variables, and with them what people wrote.
        return [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
