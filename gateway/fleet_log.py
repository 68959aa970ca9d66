"""What the controller does, in the log: each deed once with its reason, trouble when it begins and when it is over."""

import structlog
from structlog.typing import FilteringBoundLogger

from router.fleet.domain.demand import PoolName
from router.fleet.domain.scaling import Alert
from router.fleet.keeping import Deed, PoolReport

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class FleetLog:
    """Remembers the last round of each pool, since what cannot be done now is tried again at every round."""

    def __init__(self) -> None:
        self._deeds: dict[PoolName, frozenset[Deed]] = {}
        self._troubles: dict[PoolName, frozenset[str]] = {}
        self._short: dict[PoolName, Alert] = {}
        self._leads: bool | None = None

    def told(self, report: PoolReport) -> None:
        if not report.leads and self._leads is not False:
            _log.info("fleet: this process does not lead, and waits")
        self._leads = report.leads
        before = self._deeds.get(report.pool, frozenset())
        for deed in report.deeds:
            if deed not in before:
                _tell(report.pool, deed)
        self._deeds[report.pool] = frozenset(report.deeds)
        self._tell_troubles(report)
        self._tell_alert(report)

    def _tell_troubles(self, report: PoolReport) -> None:
        before, now = self._troubles.get(report.pool, frozenset()), frozenset(report.troubles)
        for trouble in sorted(now - before):
            _log.warning("fleet: not all can be known or done", pool=report.pool, trouble=trouble)
        if before and not now:
            _log.info("fleet: all can be known and done again", pool=report.pool)
        self._troubles[report.pool] = now

    def _tell_alert(self, report: PoolReport) -> None:
        before = self._short.pop(report.pool, None)
        if report.alert is not None:
            if before is None or str(before) != str(report.alert):
                _log.warning("fleet: replicas are missing", pool=report.pool, short=str(report.alert))
            self._short[report.pool] = report.alert
        elif before is not None and report.leads:
            _log.info("fleet: replicas are no longer missing", pool=report.pool)


def _tell(pool: PoolName, deed: Deed) -> None:
    facts = {"pool": pool, "deed": deed.what, "replica": deed.replica, "reason": deed.reason}
    if deed.trouble:
        _log.warning("fleet: could not be done", **facts, trouble=deed.trouble)
    else:
        _log.info("fleet: done", **facts)
