"""What is refused here before the router is asked; `problems` gives each a status and a code."""


class RequestRefused(Exception):
    """A request cannot be served as it stands; `param` names the field or header, if one is at fault."""

    def __init__(self, detail: str, *, param: str | None = None) -> None:
        super().__init__(detail)
        self.param = param


class RequestInvalid(RequestRefused):
    """Not what the API takes: no JSON object, a field of the wrong type, a session key that cannot be one."""


class BodyTooLarge(RequestRefused):
    """More bytes than this process takes."""


class NotJson(RequestRefused):
    """The body must be declared as application/json, which a web page of another origin cannot do unasked."""


class Unauthenticated(RequestRefused):
    """No key, or an unknown one; the answer never says which."""


class Forbidden(RequestRefused):
    """A web page asks for what only operators may do."""


class NotFound(RequestRefused):
    """There is nothing at this path, or no such model, replica, session or decision."""


class MethodNotAllowed(RequestRefused):
    """The path is there, but not for this method; `allowed` are those it takes."""

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__("this path does not take the method")
        self.allowed = allowed


class ClientLost(Exception):
    """Nobody is there any more to be answered."""
