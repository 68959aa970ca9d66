"""Which replica a session prefers, computed from names alone (highest random weight)."""

from functools import lru_cache
from hashlib import blake2b

from router.domain.fleet import AffinityKey, ReplicaId

# A Mersenne prime: multiplying modulo it shuffles all 61 bits, and costs a tenth of a digest per replica.
_PRIME = (1 << 61) - 1
_POOLS = 256


def favourite(key: AffinityKey, replicas: tuple[ReplicaId, ...]) -> ReplicaId:
    """The same in every process and for every order of the replicas, of which there must be one. Taking another one
    away changes nothing.
    """
    number = number_of(key)
    weights = [number * factor % _PRIME for factor in _factors(replicas)]
    return replicas[weights.index(max(weights))]


def number_of(name: str) -> int:
    """A number from 1 up to 2**61 - 2 that looks random and is the same in every process."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(digest, "big") % (_PRIME - 1) + 1


def start_of(key: AffinityKey) -> int:
    """Where a session begins to look among equal replicas, so that not all begin at the first. 32 bits, since Redis
    scripts count in floating point.
    """
    return number_of(key) & 0xFFFF_FFFF


@lru_cache(maxsize=_POOLS)
def _factors(replicas: tuple[ReplicaId, ...]) -> tuple[int, ...]:
    return tuple(number_of(f"replica:{replica}") for replica in replicas)
