"""What is taken from an identity provider over real HTTP, and what is not."""

from collections.abc import AsyncIterator

import httpx
import pytest

from gateway.adapters.oidc_http import OidcHttp
from gateway.errors import KeySetUnavailable
from tests.support.identity_provider import DISCOVERY, KEYS, IdentityProvider, Mood, identity_provider


@pytest.fixture
async def provider() -> AsyncIterator[IdentityProvider]:
    async with identity_provider() as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=0.3, verify=False) as made:  # noqa: S501  nothing is encrypted
        yield made


async def test_keys_are_found_by_discovery(provider: IdentityProvider, client: httpx.AsyncClient) -> None:
    found = await OidcHttp(client=client, issuer=provider.issuer).key_set()
    assert found == {"keys": [provider.keys[0].as_dict(private=False)]}
    assert provider.asked == {DISCOVERY: 1, KEYS: 1}


async def test_keys_at_a_known_address_need_no_discovery(provider: IdentityProvider, client: httpx.AsyncClient) -> None:
    await OidcHttp(client=client, issuer=provider.issuer, keys_url=f"{provider.url}{KEYS}").key_set()
    assert provider.asked == {DISCOVERY: 0, KEYS: 1}


@pytest.mark.parametrize(
    "says",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": ["http://127.0.0.1/"]},
        {"jwks_uri": "http://10.0.0.1/keys"},
        {"jwks_uri": "file:///etc/passwd"},
    ],
    ids=str,
)
async def test_a_discovery_document_that_leads_astray_is_not_followed(
    provider: IdentityProvider, client: httpx.AsyncClient, says: dict[str, object]
) -> None:
    provider.discovery_says = says
    with pytest.raises(KeySetUnavailable, match="discovery document"):
        await OidcHttp(client=client, issuer=provider.issuer).key_set()
    assert provider.asked[KEYS] == 0


@pytest.mark.parametrize("mood", [mood for mood in Mood if mood is not Mood.WELL])
async def test_whatever_a_provider_does_it_is_only_away(
    provider: IdentityProvider, client: httpx.AsyncClient, mood: Mood
) -> None:
    provider.mood = mood
    with pytest.raises(KeySetUnavailable):
        await OidcHttp(client=client, issuer=provider.issuer).key_set()


async def test_a_provider_that_is_not_there_is_away(client: httpx.AsyncClient) -> None:
    with pytest.raises(KeySetUnavailable, match="ConnectError"):
        await OidcHttp(client=client, issuer="http://127.0.0.1:1").key_set()
