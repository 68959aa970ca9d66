"""How the process meets the network: certificates, trusted proxies, origins of pages, and bounds on connections."""

from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

_PORTS = {"http": 80, "https": 443}


def _origin(value: str) -> str:
    """An origin as browsers write it, since that is what it is compared with."""
    parts = urlsplit(value)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("an origin is https://host or https://host:port; neither * nor null is one")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, _PORTS[parts.scheme]) else f":{parts.port}"
    written = f"{parts.scheme}://{host}{port}"
    if value != written:
        raise ValueError(f"browsers write this origin as {written}")
    return value


class TlsSettings(BaseModel):
    """Certificate files in PEM; without them the process speaks plain HTTP."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    certificate: Path | None = Field(default=None, description="the certificate, and behind it those that lead to it")
    key: Path | None = None
    password_file: Path | None = Field(default=None, description="holds the key's password, where it has one")
    reload_s: float = Field(default=10.0, gt=0, le=86_400, description="how often the files are looked at")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("a certificate and its key are set together")
        if self.password_file is not None and self.key is None:
            raise ValueError("a password needs a key")
        return self


class EdgeSettings(BaseModel):
    """What is believed of proxies, which pages may call, and how much one process holds open."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = Field(
        default=(), description="networks whose word on the client's address and scheme is taken"
    )
    forwarded_by: Literal["x-forwarded", "forwarded"] = Field(
        default="x-forwarded", description="the headers that the trusted proxies write; the others are ignored"
    )
    cors_origins: tuple[Annotated[str, AfterValidator(_origin)], ...] = Field(
        default=(), description="the exact origins of pages that may call from a browser"
    )
    cors_max_age_s: int = Field(default=600, ge=0, le=86_400, description="how long a browser keeps a permission")
    hsts_s: int = Field(default=31_536_000, ge=0, description="told over HTTPS; 0: not told")
    max_connections: int = Field(default=20_000, ge=1, le=60_000)
    handshake_s: float = Field(default=10.0, gt=0, le=60)
    request_s: float = Field(default=30.0, gt=0, le=600, description="until a request, without its body, must be whole")
    keep_alive_s: int = Field(default=30, ge=1, le=3600, description="how long an idle connection is kept")
