"""Certificate files are taken whole, refused with a reason, and renewed without a restart."""

import asyncio
import signal
import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from gateway.cli.failure import CommandFailed
from gateway.cli.tls import Certificates, certificates, renewing
from gateway.edge_settings import TlsSettings
from tests.support.eventually import eventually

AUTHORITY = trustme.CA()


@pytest.fixture
def files(tmp_path: Path) -> TlsSettings:
    settings = TlsSettings(certificate=tmp_path / "chain.pem", key=tmp_path / "key.pem", reload_s=0.01)
    issue(settings)
    return settings


def issue(settings: TlsSettings) -> None:
    """Another certificate, in the same files."""
    assert settings.certificate is not None
    assert settings.key is not None
    issued = AUTHORITY.issue_cert("localhost")
    settings.certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    settings.key.write_bytes(issued.private_key_pem.bytes())


def shown(held: Certificates, *, name: str | None = "localhost", **wanted: ssl.TLSVersion) -> Mapping[str, object]:
    """What a client is shown in a whole handshake; raises what the client does."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    context.check_hostname = name is not None
    for attribute, version in wanted.items():
        setattr(context, attribute, version)
    client = context.wrap_bio(back, there, server_hostname=name)
    server = held.context.wrap_bio(there, back, server_side=True)
    for side in (client, server, client, server, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    certificate = client.getpeercert()
    assert certificate is not None
    return certificate


def held(settings: TlsSettings) -> Certificates:
    found = certificates(settings)
    assert found is not None
    return found


def test_without_files_http_is_spoken() -> None:
    assert certificates(TlsSettings()) is None


@pytest.mark.parametrize("name", ["localhost", None])
def test_a_client_is_shown_the_certificate(files: TlsSettings, name: str | None) -> None:
    assert shown(held(files), name=name)["serialNumber"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_versions_are_not_spoken(files: TlsSettings) -> None:
    ours = held(files)
    assert shown(ours, maximum_version=ssl.TLSVersion.TLSv1_2)
    with pytest.raises(ssl.SSLError):
        shown(ours, minimum_version=ssl.TLSVersion.TLSv1_1, maximum_version=ssl.TLSVersion.TLSv1_1)


def test_new_files_are_shown_to_whoever_comes_next(files: TlsSettings) -> None:
    ours = held(files)
    first = shown(ours)
    ours.renew_if_changed()
    assert shown(ours) == first
    issue(files)
    assert shown(ours) == first
    ours.renew_if_changed()
    assert shown(ours) != first


def test_files_that_cannot_be_used_change_nothing_until_they_can(files: TlsSettings) -> None:
    ours = held(files)
    first = shown(ours)
    assert files.key is not None
    assert files.certificate is not None
    files.key.write_bytes(AUTHORITY.issue_cert("localhost").private_key_pem.bytes())
    ours.renew_if_changed()
    assert shown(ours) == first
    files.certificate.unlink()
    ours.renew_if_changed()
    assert shown(ours) == first
    issue(files)
    ours.renew_if_changed()
    assert shown(ours) != first


def locked(settings: TlsSettings, folder: Path, password: bytes) -> TlsSettings:
    """The same with a key that needs a password."""
    assert settings.key is not None
    key = load_pem_private_key(settings.key.read_bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password))
    settings.key.write_bytes(pem)
    words = folder / "password.txt"
    words.write_bytes(password + b"\n")
    return settings.model_copy(update={"password_file": words})


def test_a_key_may_have_a_password(files: TlsSettings, tmp_path: Path) -> None:
    assert shown(held(locked(files, tmp_path, b"open sesame")))


def test_a_key_whose_password_is_missing_or_wrong_is_refused(files: TlsSettings, tmp_path: Path) -> None:
    settings = locked(files, tmp_path, b"open sesame")
    with pytest.raises(CommandFailed, match="the password of the key is missing or wrong"):
        certificates(settings.model_copy(update={"password_file": None}))
    (tmp_path / "password.txt").write_text("sesame")
    with pytest.raises(CommandFailed, match="the password of the key is missing or wrong") as caught:
        certificates(settings)
    assert "sesame" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(files: TlsSettings, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"nowhere\.pem: No such file or directory; look at DRILLYARD_TLS__"):
        certificates(files.model_copy(update={"key": tmp_path / "nowhere.pem"}))


def test_a_key_of_another_certificate_is_told(files: TlsSettings) -> None:
    assert files.key is not None
    files.key.write_bytes(AUTHORITY.issue_cert("localhost").private_key_pem.bytes())
    with pytest.raises(CommandFailed, match="the key is not that of the certificate"):
        certificates(files)


@pytest.mark.parametrize("content", [b"", b"no certificate", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_file_that_holds_no_certificate_is_told(files: TlsSettings, content: bytes) -> None:
    assert files.certificate is not None
    files.certificate.write_bytes(content)
    with pytest.raises(CommandFailed, match="they do not hold a certificate and its key in PEM"):
        certificates(files)


async def test_the_files_are_looked_at_from_time_to_time(files: TlsSettings) -> None:
    ours = held(files)
    first = shown(ours)
    async with renewing(ours, every_s=0.01):
        issue(files)
        await eventually(lambda: shown(ours) != first)


async def test_a_signal_has_them_read_at_once(files: TlsSettings) -> None:
    ours = held(files)
    first = shown(ours)
    async with renewing(ours, every_s=3600):
        issue(files)
        signal.raise_signal(signal.SIGHUP)
        await eventually(lambda: shown(ours) != first)


async def test_without_certificates_nothing_is_looked_at() -> None:
    before = asyncio.all_tasks()
    async with renewing(None, every_s=0.01):
        assert asyncio.all_tasks() == before
