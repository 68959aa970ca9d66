"""What can go wrong with one request, before its answer began and within it."""


class UpstreamError(Exception):
    """One request failed."""


class TargetInvalid(UpstreamError):
    """The address is not one that this client can reach."""


class HeaderInvalid(UpstreamError):
    """A header that must not be sent: it could end the head early, or change where the body ends."""


class ConnectFailed(UpstreamError):
    """No connection could be made."""


class ConnectTimedOut(ConnectFailed):
    """No connection could be made in time."""


class NoAnswer(UpstreamError):
    """The connection ended before a whole head came, or what came is not HTTP."""


class ConnectionDropped(NoAnswer):
    """The connection ended before a single byte came; on a kept connection that says nothing about the server."""


class AnswerBroken(UpstreamError):
    """The body ended before its end, or is not framed as HTTP frames it."""


class OutOfPatience(UpstreamError):
    """The server was silent for longer than it may, or took too long in all."""
