"""How a call to the API can fail, each with a stable code and a sentence for the person at the terminal."""

import ssl
from collections.abc import Sequence

from gateway.cli.failure import CommandFailed


class ApiFault(CommandFailed):
    """A call failed; `code` is stable, `detail` says it in words."""

    def __init__(self, code: str, detail: str, *, advice: str | None = None) -> None:
        super().__init__(detail, advice=advice)
        self.code = code
        self.detail = detail


class ApiUnreachable(ApiFault):
    def __init__(self, base_url: str) -> None:
        super().__init__(
            "unreachable",
            f"nothing answers at {base_url}",
            advice="start one with `make demo`, or give another --base-url",
        )


class ApiUntrusted(ApiFault):
    """Somebody answers, and HTTPS cannot be spoken with them."""

    def __init__(self, base_url: str, why: ssl.SSLError) -> None:
        if isinstance(why, ssl.SSLCertVerificationError):
            advice = "SSL_CERT_FILE names its authority"
            detail = f"the certificate is not trusted: {why.verify_message}"
        else:
            advice, detail = None, f"HTTPS is not understood there: {getattr(why, 'reason', None) or why}"
        super().__init__("untrusted", f"{base_url}: {detail}", advice=advice)


class ApiSilent(ApiFault):
    """No byte came for longer than a heartbeat may take."""

    def __init__(self, waited_s: float) -> None:
        super().__init__("timed_out", f"no answer within {waited_s:g} s")


class ApiCutOff(ApiFault):
    """The connection ended in the middle of an answer."""

    def __init__(self, detail: str) -> None:
        super().__init__("stream_cut", f"the connection was cut: {detail}")


class ApiAnswerMalformed(ApiFault):
    """The answer is not what the API promises."""

    def __init__(self, detail: str) -> None:
        super().__init__("answer_malformed", detail)


class ApiRefused(ApiFault):
    """An answer that is not 2xx."""

    def __init__(
        self,
        *,
        status: int,
        code: str,
        detail: str,
        retry_after_s: float | None,
        faults: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(
            code,
            f"{status} {code}: {detail}",
            advice="give a valid --key" if status == 401 else None,  # noqa: PLR2004
        )
        self.status = status
        self.retry_after_s = retry_after_s
        self.faults = tuple(faults)
        """Of a request: each field with what is wrong with it."""

    @property
    def may_be_retried(self) -> bool:
        """Whether the server named a moment for the same request."""
        return self.status in (409, 503) and self.retry_after_s is not None


def unreached(base_url: str, error: BaseException) -> ApiUnreachable | ApiUntrusted:
    """Why there is no connection; each library on the way down wraps what it got from the one below."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return ApiUntrusted(base_url, cause)
        cause = cause.__cause__ or cause.__context__
    return ApiUnreachable(base_url)
