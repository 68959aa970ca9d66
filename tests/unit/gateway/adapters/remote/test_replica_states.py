"""The router's list of replicas is the one that it writes, field by field."""

import json

import pytest
from pydantic import ValidationError

from gateway.adapters.remote.replica_states import state_of, states_of
from router.domain.drain import DrainProgress
from router.domain.fleet import Health, Replica, ReplicaId
from router.domain.pin import PinnedLoad
from router.http.replica_view import shown
from router.orders import ReplicaStatus

A = ReplicaId("a")
DRAIN = DrainProgress(A, (), (), in_flight=2, sessions_left=None, seconds_left=-1.5, may_stop=False)


@pytest.mark.parametrize("drain", [None, DRAIN])
@pytest.mark.parametrize("pinned", [None, PinnedLoad(3, 12)])
def test_what_the_router_shows_can_be_read(drain: DrainProgress | None, pinned: PinnedLoad | None) -> None:
    replica = Replica(A, "http://a", Health.REFUSED, "another model", frozenset({"m"}), warnings=("w",))
    written = json.dumps(shown(ReplicaStatus(replica, pinned, 4, drain))).encode()
    state = state_of(written)
    assert (state.id, state.health, state.models, state.warnings, state.in_flight) == (A, "refused", ("m",), ("w",), 4)
    assert state.sessions == (None if pinned is None else 3)
    assert (state.drain is None) == (drain is None)
    assert states_of(b'{"replicas":[' + written + b"]}") == [state]


def test_anything_else_is_refused() -> None:
    with pytest.raises(ValidationError):
        state_of(b"{}")
    with pytest.raises(KeyError):
        states_of(b"{}")
