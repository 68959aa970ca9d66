"""The turns that run on this router now: where, and of which session."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from router.domain.fleet import AffinityKey, ReplicaId


class RunningTurn(Protocol):
    """A turn that is being carried."""

    def hand_over(self) -> None:
        """Have the rest of the reply generated elsewhere, from its next piece on. Where that cannot be done the turn
        stays where it is.
        """


class InFlight:
    """A turn enters where it is carried, and leaves exactly once; keys are those of the pin store."""

    def __init__(self) -> None:
        self._at: dict[ReplicaId, dict[int, RunningTurn]] = {}
        self._keys: dict[AffinityKey, int] = {}

    def begin(self, key: AffinityKey) -> None:
        """The session's turn has begun, though no replica may have it yet."""
        self._keys[key] = self._keys.get(key, 0) + 1

    def end(self, key: AffinityKey) -> None:
        left = self._keys[key] - 1
        if left:
            self._keys[key] = left
        else:
            del self._keys[key]

    def enter(self, replica: ReplicaId, turn: RunningTurn) -> None:
        here = self._at.get(replica)
        if here is None:
            here = self._at[replica] = {}
        here[id(turn)] = turn

    def leave(self, replica: ReplicaId, turn: RunningTurn) -> None:
        here = self._at.get(replica)
        if here is not None:
            here.pop(id(turn), None)
            if not here:
                del self._at[replica]

    def is_running(self, key: AffinityKey) -> bool:
        """Whether a turn of this session has begun and not ended on this router."""
        return key in self._keys

    def turns_at(self, replica: ReplicaId) -> Sequence[RunningTurn]:
        return tuple(self._at.get(replica, {}).values())

    def counts(self) -> Mapping[ReplicaId, int]:
        """Replicas with nothing in flight are absent."""
        return {replica: len(turns) for replica, turns in self._at.items()}
