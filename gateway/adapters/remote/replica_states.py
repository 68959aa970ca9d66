"""The list of replicas as a router that runs alone writes it."""

from collections.abc import Sequence

from pydantic import TypeAdapter

from gateway.domain.replica_state import ReplicaState

_LIST: TypeAdapter[dict[str, list[ReplicaState]]] = TypeAdapter(dict[str, list[ReplicaState]])
_ONE: TypeAdapter[ReplicaState] = TypeAdapter(ReplicaState)


def states_of(body: bytes) -> Sequence[ReplicaState]:
    """Raises `ValidationError`, or `KeyError` where there is no list."""
    return _LIST.validate_json(body)["replicas"]


def state_of(body: bytes) -> ReplicaState:
    """Raises `ValidationError`."""
    return _ONE.validate_json(body)
