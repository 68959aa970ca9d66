"""Whom a load drill may be aimed at, and with which keys."""

import ipaddress
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from loadtests.domain.drill import Affinity, Wire

DATA = Path(".drillyard")
"""Of a stack that runs here, unless somebody says otherwise."""

_HOST = re.compile(r"[a-z0-9_.:-]+")
_COMPLETIONS = "/v1"


class TargetRefused(Exception):
    """The drill must not be aimed there, or does not know where to aim."""


@dataclass(frozen=True, slots=True)
class Replica:
    """One that is known to stand behind the target."""

    id: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    base_urls: tuple[str, ...]
    """One, except where the client itself chooses a replica each turn."""
    keys: tuple[str, ...] = field(default=(), repr=False)
    """Of trainees, shared out among them."""
    scenario: str = ""
    model: str = ""
    system: str = ""
    """What a chat begins with, where the client keeps the history."""
    service_key: str | None = field(default=None, repr=False)
    """For chat completions."""
    operator_key: str | None = field(default=None, repr=False)
    """For what trainees may not see: the fleet."""
    gateway_url: str = ""
    """Of the stack of this machine, which need not be what is loaded."""
    instructor_key: str | None = field(default=None, repr=False)
    """For its scenarios' words, with which chats begin too."""
    replicas: tuple[Replica, ...] = ()
    """Whose metrics are read while the drill runs."""
    ready_file: Path | None = None
    """Of the stack of this machine that is aimed at; it names its processes."""
    named: tuple[str, ...] = ()
    """Other hosts that were named on purpose."""

    @property
    def base_url(self) -> str:
        return self.base_urls[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody said about where to aim; what is left out, a running stack's ready file says."""

    data: Path = DATA
    base_urls: tuple[str, ...] = ()
    keys_file: Path | None = None
    operator_key: str | None = field(default=None, repr=False)
    """For another server than that of a ready file."""
    scenario: str | None = None
    model: str | None = None
    system: str = ""
    wire: Wire = Wire.TURNS
    affinity: Affinity = Affinity.SERVER
    not_local: tuple[str, ...] = ()


def target(asked: Asked) -> Target:
    """Where to aim; raises `TargetRefused`. The keys of a ready file are used only for the very server it names."""
    for url in asked.base_urls:
        require_local(url, named=asked.not_local)
    ready = _ready(asked.data / "ready.json")
    own = str(ready.get("base_url", "")).rstrip("/")
    named = tuple(_bare(url) for url in asked.base_urls)
    if own and (not named or named == (own,)):
        require_local(own, named=asked.not_local)
        return _of_stack(asked, ready, own)
    if not named:
        raise TargetRefused(
            f"no running stack in {asked.data}: start one with `drillyard up`, or give --base-url with --keys-file, "
            "or --fleet sim:2 for a stack of its own"
        )
    return _elsewhere(asked, named)


def require_local(base_url: str, *, named: Collection[str]) -> None:
    """Only loopback may be loaded, unless the other host was named once more, on purpose."""
    host = host_of(base_url)
    if not _is_loopback(host) and host not in {each.casefold() for each in named}:
        raise TargetRefused(f"{host} is not this machine; to load it on purpose repeat its name: --not-local {host}")


def host_of(base_url: str) -> str:
    """The host of a plain http or https address; raises `TargetRefused` for what two readers may read in two ways."""
    try:
        parts = urlsplit(base_url)
        told = parts.port is None or parts.port > 0
    except ValueError:
        raise TargetRefused(f"{base_url!r} is no address: give http://HOST:PORT") from None
    host = parts.hostname or ""
    if not told or parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host) or _has_more(parts):
        raise TargetRefused(f"{base_url!r} is no plain address: give http://HOST:PORT")
    return host


def _has_more(parts: SplitResult) -> bool:
    return "@" in parts.netloc or "\\" in parts.netloc or bool(parts.query or parts.fragment)


def _is_loopback(host: str) -> bool:
    """By its spelling alone: a name that resolves to this machine now may resolve to another one later."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _of_stack(asked: Asked, ready: Mapping[str, object], own: str) -> Target:
    keys = ready.get("keys")
    held: Mapping[str, object] = keys if isinstance(keys, dict) else {}
    trainees = held.get("trainees")
    replicas = tuple(_replicas(ready))
    is_spread = asked.wire is Wire.CHAT and asked.affinity is Affinity.NONE
    if is_spread and not replicas:
        raise TargetRefused("a client can choose replicas only where these are known: give their addresses")
    for replica in replicas if asked.wire is Wire.CHAT else ():  # which are loaded, or count tokens
        require_local(replica.url, named=asked.not_local)
    told = Target(
        base_urls=tuple(each.url for each in replicas) if is_spread else (own,),
        keys=_keys(asked.keys_file)
        or tuple(str(key) for key in (trainees if isinstance(trainees, list) else ()) if key),
        scenario=asked.scenario or _first_scenario(ready),
        model=asked.model or "",
        system=asked.system,
        service_key=None if is_spread else _text(held.get("service")),
        operator_key=None if is_spread else _text(held.get("operator")),
        gateway_url=own,
        instructor_key=_text(held.get("instructor")),
        replicas=replicas,
        ready_file=(asked.data / "ready.json").absolute(),
        named=asked.not_local,
    )
    if asked.wire is Wire.TURNS and not told.keys:
        raise TargetRefused(f"{asked.data} names no key of a trainee: give --keys-file")
    return told


def _elsewhere(asked: Asked, named: tuple[str, ...]) -> Target:
    keys = _keys(asked.keys_file)
    if asked.wire is Wire.TURNS and not keys:
        raise TargetRefused(f"trainees need keys at {named[0]}: give --keys-file, one key a line")
    if len(named) > 1 and asked.affinity is not Affinity.NONE:
        raise TargetRefused(
            "several addresses are for --wire chat --affinity none, where the client chooses among them"
        )
    return Target(
        base_urls=named,
        keys=keys,
        scenario=asked.scenario or "",
        model=asked.model or "",
        system=asked.system,
        service_key=keys[0] if asked.wire is Wire.CHAT and keys else None,
        operator_key=asked.operator_key,
        replicas=tuple(Replica(_name(url), url) for url in named) if asked.wire is Wire.CHAT else (),
        named=asked.not_local,
    )


def _bare(url: str) -> str:
    """OpenAI clients write the base address with /v1; the paths here begin with it."""
    return url.rstrip("/").removesuffix(_COMPLETIONS).rstrip("/")


def _name(url: str) -> str:
    return urlsplit(url).netloc


def _ready(file: Path) -> Mapping[str, object]:
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _keys(file: Path | None) -> tuple[str, ...]:
    if file is None:
        return ()
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError):
        raise TargetRefused(f"the keys file {file} cannot be read") from None
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def _replicas(ready: Mapping[str, object]) -> list[Replica]:
    told = ready.get("replicas")
    found = [each for each in (told if isinstance(told, list) else ()) if isinstance(each, dict)]
    return [Replica(str(each.get("id", "")), str(each["url"]).rstrip("/")) for each in found if each.get("url")]


def _first_scenario(ready: Mapping[str, object]) -> str:
    scenarios = ready.get("scenarios")
    first = scenarios[0] if isinstance(scenarios, list) and scenarios else {}
    return str(first.get("id", "")) if isinstance(first, dict) else ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
