"""How what is to go is ended: asked first, killed when it is late; and how a whole shelf is cleared."""

import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes.remains import end_remains, is_alive, signal_shim
from router.fleet.adapters.processes.shelf import Shelf, Shelved

SHIM_IS_LATE_S = 10.0
_LOCK_S = 30.0
_POLL_S = 0.02


def end(one: Shelved, *, grace_s: float, now: float) -> bool:
    """Do what can be done now; whether it is to go and nothing of it is left."""
    lives = one.run is not None and is_alive(one.run)
    if one.run is not None and not lives and end_remains(one.run):
        return False
    if one.order.stopping is None:
        return False
    if one.run is not None and lives:
        late = now - one.order.stopping > grace_s + SHIM_IS_LATE_S
        signal_shim(one.run, signal.SIGKILL if late else signal.SIGTERM)
        return False
    return True


def clear(folder: Path, *, within_s: float) -> Sequence[ReplicaId]:
    """End all that was ordered there, and return what it was; nobody may go on ordering meanwhile.

    Whoever does not end in time is killed. Raises `OSError`.
    """
    if not folder.exists():
        return ()
    shelf = Shelf(folder)
    with shelf.locked(within_s=_LOCK_S):
        left = list(shelf.read())
        ordered = [one.order.id for one in left]
        began = time.time()
        while left:
            now = time.time()
            for one in left:
                gone = end(replace(one, order=replace(one.order, stopping=began)), grace_s=within_s, now=now)
                if gone:
                    shelf.remove(one.order.id)
            left = list(shelf.read())
            time.sleep(_POLL_S if left else 0)
    return ordered
