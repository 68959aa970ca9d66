"""The pool whose replicas come and go with the class calendar, as the gateway and the controller are told of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.local.bundled_model import Model
from gateway.local.sim_replica import Simulation, sim_command
from gateway.local.vllm_replica import OnCore, OnGpu, Place, Serving, is_ours, serve_environment, serve_words

GRACE_S = 4.0
"""A replica that serves ends within 2 s, and it was drained before."""
_PORT, _SLOT, _ID = "{port}", "{slot}", "{id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByCalendar:
    """`seats`: sessions that one replica holds; `lead_s`: how long before a bell the replicas are to be there."""

    seats: int
    lead_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarPool:
    """How any of its replicas is run, with `{port}` and `{slot}` for what differs."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    slots: tuple[str, ...]
    by: ByCalendar

    def variables(self, model: Model, *, folder: Path) -> Mapping[str, str]:
        """The settings of those who look at the pool. None of the replicas is there from the start."""
        host = {
            "kind": "processes",
            "command": self.command,
            "environment": dict(self.environment),
            "slots": self.slots,
            "folder": str(folder),
            "grace_s": GRACE_S,
        }
        pool = {
            "model": model.name,
            "seats_per_replica": self.by.seats,
            "maximum": len(self.slots),
            "lead_s": self.by.lead_s,
            "host": host,
        }
        return {
            "DRILLYARD_FLEET__POOLS": json.dumps([pool]),
            "DRILLYARD_POOLS_FILE": "",
            "DRILLYARD_REPLICAS": "[]",
            "DRILLYARD_ROUTER__ENGINE_PRIORITY": "true",
        }


def simulated_pool(simulation: Simulation, *, replicas: int, by: ByCalendar) -> CalendarPool:
    command = sim_command(simulation, _ID, _PORT)
    path = {} if command.env is None else {"PYTHONPATH": command.env["PYTHONPATH"]}
    slots = tuple(str(number) for number in range(1, replicas + 1))
    return CalendarPool(command=command.argv, environment=path, slots=slots, by=by)


def vllm_pool(serving: Serving, places: Sequence[Place], *, by: ByCalendar, caller: Mapping[str, str]) -> CalendarPool:
    serving.home.mkdir(parents=True, exist_ok=True)
    place = _any_of(places)
    # Its host hands the caller's variables on; what is ours in them is made empty, which is as good as absent.
    blanks = {name: "" for name in (*caller, "PYTHONPATH") if is_ours(name) and not name.startswith("DRILLYARD_")}
    return CalendarPool(
        command=serve_words(serving, place=place, port=_PORT),
        environment={**blanks, **serve_environment(serving, place=place, caller=caller)},
        slots=tuple(_slot_of(each) for each in places),
        by=by,
    )


def _any_of(places: Sequence[Place]) -> Place:
    cards = [place.sharing for place in places if isinstance(place, OnGpu)]
    return OnGpu(_SLOT, sharing=max(cards)) if cards else OnCore(_SLOT)


def _slot_of(place: Place) -> str:
    return place.index if isinstance(place, OnGpu) else str(place.core)
