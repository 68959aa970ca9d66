"""Where weights come from, by their settings."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from router.fleet.adapters.weights_cache import WeightsCache
from router.fleet.adapters.weights_folder import WeightsFolder
from router.fleet.adapters.weights_hub import HubPlace, WeightsHub
from router.fleet.adapters.weights_listing import listed_folder
from router.fleet.errors import WeightsUnusable
from router.fleet.ports import WeightsSource
from router.fleet.settings import WeightsSettings

__all__ = ["listed_folder", "weights_cache", "weights_source"]

_HUB = re.compile(r"hub:([\w.-]+/[\w.-]+)@([\w./-]+)", re.ASCII)
_SILENCE_S = 30.0


@contextmanager
def weights_source(source: str, *, hub: str = "", hub_token: str = "") -> Iterator[WeightsSource]:
    """Raises `WeightsUnusable` for what is no source."""
    if not source.startswith("hub:"):
        yield WeightsFolder(url=source, silence_s=_SILENCE_S)
        return
    found = _HUB.fullmatch(source)
    if found is None:
        raise WeightsUnusable("a source at the hub is written hub:owner/name@revision")
    if not hub:
        raise WeightsUnusable("it is not said where the hub is")
    with httpx.Client(timeout=_SILENCE_S) as client:
        yield WeightsHub(client=client, place=HubPlace(hub, found[1], found[2]), token=hub_token)


@contextmanager
def weights_cache(told: WeightsSettings) -> Iterator[WeightsCache]:
    """Raises `WeightsUnusable`."""
    token = "" if told.hub_token is None else told.hub_token.get_secret_value()
    with weights_source(told.source, hub=told.hub, hub_token=token) as source:
        yield WeightsCache(source=source, folder=told.folder, digest=told.digest)
