"""What keeps a tenant's prefixes in the replicas' caches apart from every other tenant's, request after request."""

import hashlib
from uuid import UUID


def cache_salt(tenant: UUID) -> str:
    return hashlib.sha256(f"drillyard cache of {tenant}".encode()).hexdigest()[:32]
