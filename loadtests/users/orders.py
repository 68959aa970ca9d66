"""What a Locust process is to play: as the conductor says it, or, where somebody starts Locust by hand, as its options
do."""

import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadtests.domain.drill import Drill, Wire
from loadtests.run_files import read_drill, write_object
from loadtests.run_folder import RunFolder
from loadtests.target import Asked, Target, TargetRefused, target
from loadtests.users.aim import AIM, RUN, Aim, read_aim

_TO_START_S = 2.5
_LOBBY_S = 1.0

SpeedUpOf = Callable[[Target], float | None]
"""How much faster than ours the time of its simulated replicas passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    drill: Drill
    aim: Aim
    folder: RunFolder
    by_hand: bool
    """Nobody else reads the rows and judges them."""

    @property
    def bell_at(self) -> float:
        """As it was said, else as soon as everybody can be there."""
        if self.aim.bell_at is not None:
            return self.aim.bell_at
        return time.time() + _TO_START_S + self.drill.lobby_s / self.drill.speed_up


def orders(options: Namespace, environment: Mapping[str, str], *, speed_up_of: SpeedUpOf) -> Orders:
    """Raises `ValueError`, `OSError`, `RunDamaged` or `TargetRefused` for what cannot be played."""
    if RUN in environment:
        folder = RunFolder(Path(environment[RUN]))
        return Orders(drill=read_drill(folder), aim=read_aim(Path(environment[AIM])), folder=folder, by_hand=False)
    return _by_hand(options, speed_up_of)


def _by_hand(options: Namespace, speed_up_of: SpeedUpOf) -> Orders:
    if not options.host and not (Path(options.data) / "ready.json").exists():
        raise TargetRefused(
            f"no running stack in {options.data}: start one with `drillyard up`, "
            "or give --host, --keys-file and --scenario"
        )
    aimed = target(
        Asked(
            data=Path(options.data),
            base_urls=(options.host,) if options.host else (),
            keys_file=Path(options.keys_file) if options.keys_file else None,
            scenario=options.scenario or None,
            wire=Wire.TURNS,
            not_local=(options.not_local,) if options.not_local else (),
        )
    )
    if not aimed.scenario:
        raise TargetRefused(f"{aimed.base_url} is not asked for its scenarios: give --scenario, the id of one")
    drill = Drill(
        trainees=options.num_users or 1,
        turns=(options.turns, options.turns),
        think_s=options.think,
        allowance_s=options.allowance,
        lobby_s=_LOBBY_S,
        reaction_s=0.0,
        scenario=aimed.scenario,
        speed_up=speed_up_of(aimed) or 1.0,
        seed=options.seed,
    )
    aim = Aim(base_urls=aimed.base_urls, keys=aimed.keys, scenario=aimed.scenario)
    return Orders(drill=drill, aim=aim, folder=RunFolder(Path(options.rows or _folder())), by_hand=True)


def _folder() -> str:
    """Not among the runs of the ledger, which are judged."""
    return time.strftime(".drillyard/by-hand/%Y%m%d-%H%M%S", time.gmtime())


def prepared(given: Orders) -> None:
    """Make the folder of a run by hand; the conductor has made its own."""
    if given.by_hand:
        given.folder.path.mkdir(parents=True)
        write_object(given.folder.drill, given.drill.as_json())
