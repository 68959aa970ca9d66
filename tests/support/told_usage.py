"""The usage at the end of a reply whose engine tells it."""

from router.domain.exchange import Finished, StreamItem, Usage


def told_usage(end: StreamItem) -> Usage:
    assert isinstance(end, Finished)
    assert end.usage is not None
    return end.usage
