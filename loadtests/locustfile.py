"""Trainees for Locust: each plays a part of the drill's timetable over the wire of the drill, and goes.

`drillyard load run` starts Locust with this file, watches the servers meanwhile, and judges what came of it. By hand

    locust -f loadtests/locustfile.py --headless --users 20 --turns 10 --think 3

plays a class against the stack that runs from ./.drillyard. A run ends by itself when every part is over. What Locust
itself prints is not our figures: these are made of the rows in the run's folder.
"""

import os
import sys
from dataclasses import dataclass

import gevent
from locust import User, events, task
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.exception import StopUser
from locust.runners import MasterRunner, WorkerRunner

from loadtests.conduct.asking import speed_up_of
from loadtests.conduct.order import DrillFailed
from loadtests.domain.casting import Casting
from loadtests.domain.part import Part
from loadtests.run_files import RunDamaged
from loadtests.target import TargetRefused
from loadtests.trace_files import parts_of
from loadtests.users.casting_desk import MasterDesk, OwnDesk, WorkerDesk
from loadtests.users.director import Director
from loadtests.users.options import add_options, meet_on_loopback
from loadtests.users.orders import Orders, orders, prepared
from loadtests.users.players import Players
from loadtests.users.told import figures, has_passed, told

_REFUSED = 2
_WORKERS_WITHIN_S = 60


@dataclass(slots=True, kw_only=True)
class Company:
    """What one process has to do with a drill: play in it, direct it, or both."""

    orders: Orders
    players: Players | None = None
    director: Director | None = None


COMPANIES: dict[int, Company] = {}
"""By environment; Locust gives its users nothing else to keep it in."""


@events.init_command_line_parser.add_listener  # type: ignore[untyped-decorator]  # Locust's own
def add(parser: LocustArgumentParser) -> None:
    add_options(parser)
    if any(word.startswith("--processes") for word in sys.argv):
        meet_on_loopback(parser)


@events.init.add_listener  # type: ignore[untyped-decorator]  # Locust's own
def prepare(environment: Environment, **_: object) -> None:
    options = environment.parsed_options
    if options is None:
        return
    try:
        given = orders(options, os.environ, speed_up_of=speed_up_of)
        parts = parts_of(given.drill)
        company = _company(given, parts, environment)
        if company.director is not None:
            prepared(given)
    except (DrillFailed, TargetRefused, RunDamaged, ValueError, OSError) as error:
        sys.stderr.write(f"loadtests: {error}\n")
        sys.exit(_REFUSED)
    environment.host = given.aim.base_urls[0]
    # A trainee for each part; all of them at once, since each waits for its own time.
    options.num_users = options.spawn_rate = len(parts)
    options.only_summary = True
    options.expect_workers_max_wait = _WORKERS_WITHIN_S
    COMPANIES[id(environment)] = company
    if company.director is not None:
        gevent.spawn(company.director.follow, environment)


def _company(given: Orders, parts: tuple[Part, ...], environment: Environment) -> Company:
    runner = environment.runner
    if isinstance(runner, WorkerRunner):
        players = Players(given, parts, desk=WorkerDesk(runner), worker=lambda: runner.worker_index)
        return Company(orders=given, players=players)
    casting = Casting(len(parts))
    if isinstance(runner, MasterRunner):
        workers = MasterDesk(casting, runner, bell_at=given.bell_at)
        return Company(orders=given, director=Director(casting, workers=workers))
    desk = OwnDesk(casting, bell_at=given.bell_at)
    players = Players(given, parts, desk=desk, worker=lambda: 0)
    return Company(orders=given, players=players, director=Director(casting, workers=None))


@events.user_error.add_listener  # type: ignore[untyped-decorator]  # Locust's own
def note_trouble(user_instance: User, exception: BaseException, **_: object) -> None:
    company = COMPANIES.get(id(user_instance.environment))
    if company is not None and company.players is not None:
        company.players.trouble(exception)


@events.quitting.add_listener  # type: ignore[untyped-decorator]  # Locust's own
def finish(environment: Environment, **_: object) -> None:
    """The exit code says whether the drill came to its end, and nothing else, unless nobody else judges it."""
    company = COMPANIES.pop(id(environment), None)
    if company is None:
        return
    environment.process_exit_code = 0
    if company.players is not None:
        company.players.close()
    if company.director is not None:
        company.director.close(company.orders.folder)
        is_good = company.director.is_whole and (not company.orders.by_hand or _told(company.orders))
        environment.process_exit_code = 0 if is_good else 1


def _told(given: Orders) -> bool:
    found = figures(given.folder, given.drill)
    sys.stdout.write(f"{told(found, speed_up=given.drill.speed_up)}\nrows in {given.folder.path}\n")
    return has_passed(found)


class Trainee(User):
    """Plays one part, and goes."""

    @task
    def play(self) -> None:
        players = COMPANIES[id(self.environment)].players
        if players is not None:
            players.play_next()
        raise StopUser
