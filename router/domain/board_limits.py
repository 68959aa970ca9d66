"""What the board takes: it is read whole by every router twice a second, and stays small."""

from collections.abc import Mapping

from router.domain.fleet import ReplicaId, ReplicaSpec

DEAD_AFTER_S = 5.0
"""A router that has not reported for so long is taken for dead."""
MOST_ENTRIES = 2_000
"""Of each kind of order, and routers."""
_LONGEST_NAME = 200
_LONGEST_URL = 2_000
_MOST_MODELS = 100


def has_place(taken: int) -> bool:
    return taken < MOST_ENTRIES


def check_name(name: str) -> None:
    """Raise `ValueError` unless it is short and printable, so that it can stand in keys, headers and logs."""
    _check(name, "name", _LONGEST_NAME)


def check_spec(spec: ReplicaSpec) -> None:
    check_name(spec.id)
    _check(spec.url, "URL", _LONGEST_URL)
    if len(spec.models) > _MOST_MODELS:
        raise ValueError(f"more than {_MOST_MODELS} models")
    for model in spec.models:
        check_name(model)


def check_in_flight(in_flight: Mapping[ReplicaId, int]) -> None:
    if len(in_flight) > MOST_ENTRIES:
        raise ValueError(f"more than {MOST_ENTRIES} replicas")
    for replica in in_flight:
        check_name(replica)


def _check(text: str, what: str, longest: int) -> None:
    if not text or len(text) > longest or not text.isprintable():
        raise ValueError(f"a {what} must be printable text of 1 to {longest} characters")
