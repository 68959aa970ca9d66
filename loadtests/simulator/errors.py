"""What goes wrong on purpose: refusals with vLLM's words and status, and the death of an engine."""

from http import HTTPStatus

ENGINE_DIED = "EngineCore encountered an issue. See stack trace (above) for the root cause."
LEAVING = "cannot schedule new futures after shutdown"
BUSY = "The engine is currently busy and cannot accept new requests. Please try again later or on a different instance."


class SimulatorError(Exception):
    """The root of all errors of the simulator."""


class Refused(SimulatorError):
    """A request that vLLM answers with an error body; `kind` is the body's `type`."""

    def __init__(self, message: str, *, status: int, kind: str, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.param = param


class Unparsable(SimulatorError):
    """A body that is not even text; vLLM's framework answers by itself, without an error object."""


def bad_request(message: str, *, param: str | None = None) -> Refused:
    return Refused(message, status=HTTPStatus.BAD_REQUEST, kind="BadRequestError", param=param)


def bad_value(message: str, *, param: str, value: object = None) -> Refused:
    """A parameter out of range, in the words that name it once more."""
    shown = f"parameter={param}" if value is None else f"parameter={param}, value={value}"
    return bad_request(f"{message} ({shown})", param=param)


def malformed(message: str, *, param: str | None) -> Refused:
    """A body that cannot be read; its type is written with a space."""
    return Refused(message, status=HTTPStatus.BAD_REQUEST, kind="Bad Request", param=param)


def engine_failed(message: str = ENGINE_DIED) -> Refused:
    return Refused(message, status=HTTPStatus.INTERNAL_SERVER_ERROR, kind="InternalServerError")


def busy() -> Refused:
    return Refused(BUSY, status=HTTPStatus.SERVICE_UNAVAILABLE, kind="Service Unavailable")
