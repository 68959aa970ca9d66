"""A port that it is a risk to ask."""

import pytest

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.memory_routers import MemoryRouters
from router.fleet.adapters.simulated.mortal import ControllerKilled, mortal
from router.fleet.errors import RoutersUnavailable

A = ReplicaSpec(ReplicaId("a"), "http://a.simulated")


@pytest.mark.parametrize(("moment", "is_done"), [(1, False), (2, True)])
async def test_whoever_asks_dies_before_the_deed_or_after_it(moment: int, *, is_done: bool) -> None:
    routers, asked = MemoryRouters(), 0

    def dies() -> bool:
        nonlocal asked
        asked += 1
        return asked == moment

    with pytest.raises(ControllerKilled):
        await mortal(routers, dies=dies).join(A)
    assert (A.id in routers.joined) is is_done


def test_nothing_that_catches_errors_catches_a_death() -> None:
    assert not issubclass(ControllerKilled, Exception)


async def test_a_port_may_fail_by_the_name_of_what_is_asked() -> None:
    routers = MemoryRouters()
    port = mortal(
        routers, dies=lambda: False, fails=lambda name: RoutersUnavailable("away") if name == "drain" else None
    )
    await port.join(A)
    assert routers.joined == {A.id: A}
    with pytest.raises(RoutersUnavailable):
        await port.drain(A.id)
    assert port.is_away is False
