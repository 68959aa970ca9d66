"""What can go wrong with the local stack, said as what happened, what to do, and where to read more."""

from pathlib import Path


class LocalStackError(Exception):
    """The stack cannot start or go on; `hint` says what to do and `log` where the details are."""

    def __init__(self, message: str, *, hint: str = "", log: Path | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.log = log


class StopAsked(BaseException):  # not an Exception, so that no clean-up code mistakes it for a failure
    """Somebody asked this command to stop; whatever is under way ends here."""


class PortTaken(LocalStackError):
    """Another process listens on a port that was asked for by number."""


class BinaryMissing(LocalStackError):
    """A program the stack runs is not on this machine."""


class PlatformUnsupported(LocalStackError):
    """This machine cannot run what was asked for, whatever is installed."""


class DiskFull(LocalStackError):
    """There is no room for what has to be written."""


class AlreadyRunning(LocalStackError):
    """Another `drillyard up` owns the data folder."""


class ProgramFailed(LocalStackError):
    """A program that had to finish ended with an error."""


class ServiceDied(LocalStackError):
    """A server ended before it was ready."""


class ServiceNotReady(LocalStackError):
    """A server runs but did not become ready in time."""


class KeepsDying(LocalStackError):
    """A server died so often that starting it again is no cure."""
