"""HTTPS by certificate files, which are read anew when they change; connections that are open keep what they have."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from signal import SIGHUP

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.cli.failure import CommandFailed
from gateway.edge_settings import TlsSettings

_ADVICE = "look at DRILLYARD_TLS__CERTIFICATE, __KEY and __PASSWORD_FILE"
# Forward secrecy and authenticated encryption only; TLS 1.3 has suites of its own, which are all like this.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
_LONGEST_PASSWORD_BYTES = 1024

_log: FilteringBoundLogger = structlog.get_logger(__name__)

State = tuple[tuple[int, int, int], ...]


class Certificates:
    """`context` is for the server and stays the same; whom it greets with which certificate is settled in `_greet`."""

    def __init__(self, settings: TlsSettings) -> None:
        """Raises `CommandFailed` when the files cannot be used."""
        self._settings = settings
        self._files = [path for path in (settings.certificate, settings.key, settings.password_file) if path]
        self._seen = self._state()
        try:
            self.context = self._current = _context(settings)
        except (OSError, ValueError) as error:
            raise CommandFailed(f"HTTPS cannot be served: {_reason(error, settings)}", advice=_ADVICE) from error
        self.context.sni_callback = self._greet

    def renew(self) -> None:
        """Take what the files hold now; files that cannot be used change nothing."""
        self._seen = self._state()
        try:
            self._current = _context(self._settings)
        except (OSError, ValueError) as error:
            _log.warning("certificate not taken", reason=_reason(error, self._settings))
        else:
            _log.info("certificate taken")

    def renew_if_changed(self) -> None:
        if self._state() != self._seen:
            self.renew()

    def _greet(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        """Called for each handshake, whether or not the client names a host. One assignment puts certificate and key
        in force together, which loading them into a living context would not.
        """
        connection.context = self._current

    def _state(self) -> State:
        """What tells that a file was written or replaced; a file that is gone is one that differs."""
        found = []
        for path in self._files:
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size, status.st_ino))
        return tuple(found)


@asynccontextmanager
async def renewing(certificates: Certificates | None, *, every_s: float) -> AsyncIterator[None]:
    """Meanwhile the files are looked at every so often, and read at once on SIGHUP."""
    if certificates is None:
        yield
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(SIGHUP, certificates.renew)
    looking = loop.create_task(_look(certificates.renew_if_changed, every_s))
    try:
        yield
    finally:
        looking.cancel()
        loop.remove_signal_handler(SIGHUP)


async def _look(look: Callable[[], None], every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        look()


def certificates(settings: TlsSettings) -> Certificates | None:
    """None where HTTP is spoken; raises `CommandFailed`."""
    return None if settings.certificate is None else Certificates(settings)


def _context(settings: TlsSettings) -> ssl.SSLContext:
    """Raises `OSError`, which `ssl.SSLError` is too, or `ValueError`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.set_alpn_protocols(["http/1.1"])
    if settings.certificate is not None:
        # Without a password of its own OpenSSL would ask for one at the terminal, and wait.
        context.load_cert_chain(settings.certificate, settings.key, password=_password(settings.password_file))
    return context


def _password(path: Path | None) -> bytes:
    if path is None:
        return b""
    with path.open("rb") as file:
        return file.read(_LONGEST_PASSWORD_BYTES).rstrip(b"\r\n")


def _reason(error: OSError | ValueError, settings: TlsSettings) -> str:
    """Which file it is, in words for people; never what it holds."""
    for path in (settings.certificate, settings.key, settings.password_file):
        try:
            held = b"" if path is None else path.read_bytes()
        except OSError as fault:
            return f"{path}: {fault.strerror}"
        if path == settings.key and b"ENCRYPTED" in held:
            return f"{path}: the password of the key is missing or wrong"
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        return f"{settings.key}: the key is not that of the certificate"
    return f"{settings.certificate} and {settings.key}: they do not hold a certificate and its key in PEM"
