"""What can go wrong between a session and its replica; facts as attributes, no HTTP status."""


class RouterError(Exception):
    """The router could not carry a turn."""


class NoReplicaAvailable(RouterError):
    """No replica may take the session now; `retry_after_s` says when to try again.

    `ready` are those that take new sessions: not those that drain, nor those that were left alone after failures.
    """

    def __init__(self, *, ready: int, known: int, retry_after_s: float, draining: int = 0) -> None:
        drains = f", {draining} draining" if draining else ""
        super().__init__(f"no replica can take the session ({ready} of {known} ready{drains})")
        self.ready = ready
        self.known = known
        self.draining = draining
        self.retry_after_s = retry_after_s


class EngineError(RouterError):
    """One replica failed one request; `replica` says which."""

    def __init__(self, replica: str, detail: str) -> None:
        super().__init__(f"{replica}: {detail}")
        self.replica = replica
        self.detail = detail


class EngineUnreachable(EngineError):
    """The connection was refused, or reset before the answer began."""


class EngineConnectLate(EngineUnreachable):
    """The connection could not be made in time."""


class EngineTimedOut(EngineError):
    """The replica took the request and then stayed silent for longer than it may."""


class EngineBusy(EngineError):
    """The replica refused the request because it is full, draining or broken: HTTP 429 or 5xx, as `status` says."""

    def __init__(self, replica: str, detail: str, *, status: int = 503) -> None:
        super().__init__(replica, detail)
        self.status = status


class EngineRejected(EngineError):
    """The replica found the request itself wrong (HTTP 4xx); asking another replica would not help.

    `status` and `body` are its answer, for a caller that spoke to the engine's own API; the body may quote the request.
    """

    def __init__(self, replica: str, detail: str, *, status: int = 400, body: bytes = b"") -> None:
        super().__init__(replica, detail)
        self.status = status
        self.body = body


class EngineBroke(EngineError):
    """The answer began and did not end as an answer must: cut off, an error object, or no finish reason."""


class PinStoreUnavailable(RouterError):
    """The pins cannot be read or written now."""


class ModelUnknown(RouterError):
    """No replica serves this model."""

    def __init__(self, model: str, *, served: tuple[str, ...]) -> None:
        super().__init__(f"no replica serves the model {model[:100]!r}")
        self.model = model
        self.served = served


class NoRoom(RouterError):
    """Every replica is full and the wait for room was in vain; nothing was generated.

    `position` is the place in the queue when the wait ended, from 1; 0: the queue itself was full.
    """

    def __init__(self, *, waited_s: float, position: int, retry_after_s: float) -> None:
        super().__init__("every replica is full")
        self.waited_s = waited_s
        self.position = position
        self.retry_after_s = retry_after_s


class ReplicaUnknown(RouterError):
    """There is no such replica."""

    def __init__(self, replica: str) -> None:
        super().__init__("there is no such replica")
        self.replica = replica


class ReplicaInvalid(RouterError):
    """The replica cannot be added as it was named; the message says what is wrong with it."""


class ReplicaInUse(RouterError):
    """The replica may not be taken out yet: its drain has not ended, or was never ordered.

    Figures that nobody knows are None.
    """

    def __init__(self, replica: str, *, sessions_left: int | None, in_flight: int | None) -> None:
        super().__init__("the replica may still have sessions or turns; drain it first")
        self.replica = replica
        self.sessions_left = sessions_left
        self.in_flight = in_flight


class BoardUnavailable(RouterError):
    """The orders for the fleet cannot be read or written now."""


class FleetSourceUnavailable(RouterError):
    """Which replicas there should be cannot be read now; the message says why."""


class DecisionsUnavailable(RouterError):
    """The decisions of other routers cannot be read now."""


class StreamBroken(RouterError):
    """Bytes that are not those of a complete reply: cut off, an error object, no or another finish reason."""
