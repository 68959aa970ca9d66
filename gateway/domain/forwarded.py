"""Who really asks, behind proxies: told by the hops that are trusted, right to left, and by nobody else.

Whatever a client writes into these headers stands to the left of what the first trusted proxy adds to them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]

_PAIR = re.compile(r'\s*([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^\s;,"]*)\s*(?:;|$)')
_ELEMENT = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^",])+')
_PORT = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<v4>[0-9.]+))(?::[0-9]{1,5})?")
_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Hop:
    """One proxy's word on the one before it."""

    address: Address | None
    """None: it cannot be read, or is hidden."""
    scheme: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    address: Address | None
    scheme: str | None
    """None: as the connection itself."""


def origin(peer: str, hops: Sequence[Hop], trusted: Networks) -> Origin:
    """The first hop from the right that is not trusted, and the scheme by which it came."""
    here = Origin(_address(peer), None)
    for hop in reversed(hops):
        if here.address is None or not _is_in(here.address, trusted):
            break
        here = Origin(hop.address, hop.scheme)
    return here


def of_x_forwarded(addresses: Sequence[str], schemes: Sequence[str]) -> list[Hop]:
    """The hops of X-Forwarded-For and X-Forwarded-Proto. A proxy adds to both or sets the second anew: where there is
    one scheme for several hops, it is that of the whole way.
    """
    listed = _listed(addresses)
    by_hop = [scheme.lower() for scheme in _listed(schemes)][-len(listed) :]
    if len(by_hop) == 1:
        by_hop *= len(listed)
    missing: list[str] = [""] * (len(listed) - len(by_hop))
    return [Hop(_address(address), _scheme(scheme)) for address, scheme in zip(listed, missing + by_hop, strict=True)]


def of_forwarded(lines: Sequence[str]) -> list[Hop]:
    """The hops of Forwarded (RFC 7239)."""
    return [_hop(element) for line in lines for element in _ELEMENT.findall(line)]


def network_of(address: Address) -> str:
    """What may be kept of an address: enough to see where a flood comes from, and not who it was."""
    plain = _unmapped(address)
    bits = 24 if isinstance(plain, IPv4Address) else 48
    network = IPv4Network if isinstance(plain, IPv4Address) else IPv6Network
    return str(network((plain, bits), strict=False))


def _hop(element: str) -> Hop:
    pairs = {name.lower(): value for name, value in _pairs(element)}
    return Hop(_address(pairs.get("for", "")), _scheme(pairs.get("proto", "").lower()))


def _pairs(element: str) -> Iterator[tuple[str, str]]:
    for match in _PAIR.finditer(element):
        yield match[1], match[2].strip('"')


def _listed(lines: Sequence[str]) -> list[str]:
    return [part.strip() for line in lines for part in line.split(",") if part.strip()]


def _scheme(written: str) -> str | None:
    return written if written in _SCHEMES else None


def _address(written: str) -> Address | None:
    with_port = _PORT.fullmatch(written)
    bare = (with_port["v6"] or with_port["v4"]) if with_port else written
    try:
        return _unmapped(ip_address(bare))
    except ValueError:
        return None


def _unmapped(address: Address) -> Address:
    """A socket for both families shows the older one within the newer."""
    return address if isinstance(address, IPv4Address) else address.ipv4_mapped or address


def _is_in(address: Address, networks: Networks) -> bool:
    return any(address in network for network in networks)
