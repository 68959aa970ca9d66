"""In which order a session prefers the replicas, computed from names alone (highest random weight)."""

from collections.abc import Iterable
from hashlib import blake2b

from router.domain.fleet import AffinityKey, ReplicaId

_WEIGHT_BYTES = 8


def rank(key: AffinityKey, replicas: Iterable[ReplicaId]) -> list[ReplicaId]:
    """The same list in every process; taking one replica away leaves the order of the others as it was."""
    # The length stands before the key so that no two pairs of key and replica give the same bytes.
    encoded = key.encode("utf-8", "surrogatepass")
    start = blake2b(len(encoded).to_bytes(4, "big") + encoded, digest_size=_WEIGHT_BYTES)

    def weight(replica: ReplicaId) -> tuple[bytes, ReplicaId]:
        digest = start.copy()
        digest.update(replica.encode("utf-8", "surrogatepass"))
        return digest.digest(), replica

    return sorted(replicas, key=weight, reverse=True)
