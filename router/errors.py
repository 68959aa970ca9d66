"""What can go wrong between a session and its replica; facts as attributes, no HTTP status."""


class RouterError(Exception):
    """The router could not carry a turn."""


class NoReplicaAvailable(RouterError):
    """No replica may take the session now; `retry_after_s` says when to try again."""

    def __init__(self, *, ready: int, known: int, retry_after_s: float) -> None:
        super().__init__(f"no replica can take the session ({ready} of {known} ready)")
        self.ready = ready
        self.known = known
        self.retry_after_s = retry_after_s


class EngineError(RouterError):
    """One replica failed one request; `replica` says which."""

    def __init__(self, replica: str, detail: str) -> None:
        super().__init__(f"{replica}: {detail}")
        self.replica = replica
        self.detail = detail


class EngineUnreachable(EngineError):
    """The connection was refused, reset before the answer began, or could not be made in time."""


class EngineTimedOut(EngineError):
    """The replica took the request and then stayed silent for longer than it may."""


class EngineBusy(EngineError):
    """The replica refused the request because it is full, draining or broken (HTTP 5xx or 429)."""


class EngineRejected(EngineError):
    """The replica found the request itself wrong (HTTP 4xx); asking another replica would not help."""


class EngineBroke(EngineError):
    """The answer began and did not end as an answer must: cut off, an error object, or no finish reason."""


class PinStoreUnavailable(RouterError):
    """The pins cannot be read or written now."""
