"""The options of Locust for a drill that is started by hand; `drillyard load run` has many more. And where a master and
its workers meet."""

import socket

from locust.argument_parser import LocustArgumentParser

_LOOPBACK = "127.0.0.1"


def add_options(parser: LocustArgumentParser) -> None:
    drill = parser.add_argument_group("drill started by hand")
    drill.add_argument("--turns", type=int, default=5, help="turns of each session")
    drill.add_argument("--think", type=float, default=1.0, help="mean seconds between a reply and the next message")
    drill.add_argument("--allowance", type=float, default=2.0, help="seconds that the timetable gives a reply")
    drill.add_argument("--seed", type=int, default=1, help="of all chance")
    drill.add_argument("--data", default=".drillyard", help="folder of a running stack; its ready.json names the rest")
    drill.add_argument("--keys-file", default="", help="trainees' API keys of --host, one a line")
    drill.add_argument("--scenario", default="", help="id of the scenario to play; with --data the first")
    drill.add_argument("--rows", default="", help="folder for the rows of the run; must not be there yet")
    drill.add_argument("--not-local", default="", help="name of another host than this machine, to load it on purpose")


def meet_on_loopback(parser: LocustArgumentParser) -> None:
    """At a free port of this machine alone: by itself Locust listens to everybody, and at one port for all runs."""
    with socket.socket() as found:
        found.bind((_LOOPBACK, 0))
        port = found.getsockname()[1]
    parser.set_defaults(master_bind_host=_LOOPBACK, master_host=_LOOPBACK, master_bind_port=port, master_port=port)
