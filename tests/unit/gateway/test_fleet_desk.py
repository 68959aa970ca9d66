"""What operators see through the edge is what the router in this process knows."""

import pytest

from gateway.fleet_desk import LocalFleetDesk
from router.domain.fleet import ReplicaId
from router.errors import ReplicaUnknown
from tests.support.drain_house import Routers, sessions
from tests.support.router_house import REQUEST, A, B, C


async def test_replicas_are_shown_with_what_is_pinned_to_them() -> None:
    routers = Routers("r1")
    await routers.hear()
    await routers.first.has_turns(sessions(6))
    desk = LocalFleetDesk(orders=routers.first.fleet_orders, decisions=routers.first.decisions.find)
    states = await desk.replicas()
    assert [state.id for state in states] == [A, B, C]
    assert sum(state.sessions or 0 for state in states) == 6
    assert states[0].health == "ready"
    assert states[0].drain is None


async def test_a_drain_is_ordered_shown_and_undone() -> None:
    routers = Routers("r1", "r2")
    await routers.hear()
    desk = LocalFleetDesk(orders=routers.first.fleet_orders, decisions=routers.first.decisions.find)
    await desk.drain(A, within_s=30)
    drain = (await desk.replica(A)).drain
    assert drain is not None
    assert (drain.acknowledged, drain.missing, drain.may_stop) == (0, 2, False)
    await desk.undo_drain(A)
    assert (await desk.replica(A)).drain is None
    with pytest.raises(ReplicaUnknown):
        await desk.replica(ReplicaId("nobody"))


async def test_figures_that_nobody_knows_are_none() -> None:
    routers = Routers("r1")
    await routers.hear()
    routers.pins.broken = True
    desk = LocalFleetDesk(orders=routers.first.fleet_orders, decisions=routers.first.decisions.find)
    state = await desk.replica(A)
    assert (state.sessions, state.kv_tokens) == (None, None)


async def test_decisions_are_found_by_their_request() -> None:
    routers = Routers("r1")
    await routers.hear()
    await routers.first.has_turns(sessions(1))
    desk = LocalFleetDesk(orders=routers.first.fleet_orders, decisions=routers.first.decisions.find)
    assert await desk.decision(REQUEST.request_id) is not None
    assert await desk.decision("nobody") is None
