"""Which addresses an issuer of tokens may have."""

from ipaddress import ip_address
from urllib.parse import urlsplit

_LONGEST = 2048


def may_be_asked(url: str) -> bool:
    """Over HTTPS; without it on this machine only. With neither a password in it nor a place on a page."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if len(url) > _LONGEST or not url.isascii() or not parts.hostname or port == 0:
        return False
    if "@" in parts.netloc or parts.fragment or any(char.isspace() for char in url):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
