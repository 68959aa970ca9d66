"""How a fault is logged whose own words could repeat what people wrote: what kind it is and where, without them."""

import traceback

import structlog
from structlog.typing import FilteringBoundLogger

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def log_fault(event: str, error: Exception, **facts: str) -> None:
    where = "".join(traceback.format_tb(error.__traceback__))
    _log.error(event, **facts, reason=type(error).__name__, traceback=where)
