"""Whether a turn that failed at one replica, before its first token, is asked for at another."""

from router.errors import EngineError, EngineRejected


def may_go_elsewhere(error: EngineError, *, failed: int, most: int) -> bool:
    """`failed` replicas have been asked so far, the one of `error` included; `most` may be.

    What one replica finds wrong with a request, every other one would. A stream that broke before its first token has
    delivered nothing, so it may be asked for anew like one that never began.
    """
    return failed < most and not isinstance(error, EngineRejected)
