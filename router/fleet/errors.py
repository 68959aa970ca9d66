"""What can go wrong between the controller and what it asks; each means that something is not known now."""

from router.errors import RouterError


class FleetError(RouterError):
    """The fleet could not be looked after."""


class HostUnavailable(FleetError):
    """The host of the replicas cannot be asked, or did not do what it was told."""


class CalendarUnavailable(FleetError):
    """The classes cannot be read."""


class LedgerUnavailable(FleetError):
    """What is remembered of replicas cannot be read or written."""


class NotLeading(FleetError):
    """Another process leads, or may by now."""


class RoutersUnavailable(FleetError):
    """The routers' board or their pins cannot be reached."""


class WeightsUnusable(FleetError):
    """The weights cannot be had, or are not the ones that were named. `may_pass`: tried again they may be had."""

    def __init__(self, what: str, *, may_pass: bool = False) -> None:
        super().__init__(what)
        self.may_pass = may_pass


class AlarmNotHeard(FleetError):
    """Whoever was to be told could not be reached."""
