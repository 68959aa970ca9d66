"""What a failure at a replica is told as: to the fleet and the log, and to whoever waits for the reply."""

import structlog
from structlog.typing import FilteringBoundLogger

from router.domain.failover import Why
from router.domain.fleet import ReplicaId
from router.errors import EngineBroke, EngineConnectLate, EngineError, EngineRejected, EngineUnreachable
from router.ports import FleetView

_LONGEST_DETAIL = 200

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def report(fleet: FleetView, replica: ReplicaId, error: EngineError) -> str:
    """Tell the fleet and the log; returns what may be kept of the error's words."""
    # A rejection quotes the request, and with it what people said.
    detail = "" if isinstance(error, EngineRejected) else error.detail[:_LONGEST_DETAIL]
    if isinstance(error, EngineConnectLate):
        fleet.saw_late_connect(replica, detail)
    elif isinstance(error, EngineUnreachable):
        fleet.saw_failure(replica, detail)
    _log.warning("turn failed at a replica", replica=replica, error=type(error).__name__, detail=detail)
    return detail


def last_word(error: EngineError, why: Why, *, has_begun: bool) -> EngineError:
    """What the turn ends with where nobody else is asked."""
    if why is Why.WRONG_REQUEST and has_begun:
        # It is our call for the rest that was refused, which the caller knows nothing of.
        return EngineBroke(error.replica, "the replica refused to continue the reply")
    return error
