"""What the router alone costs beside the fastest routers there are."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from loadtests.overhead.bench import Plan, courses, measure
from loadtests.overhead.peers import OWN, RIVALS, Peer
from loadtests.overhead.pinned import TargetFailed
from loadtests.overhead.report import as_caution, as_json, as_ratios, as_table, as_verdict
from loadtests.overhead.verdict import judge

_EPILOG = f"""\
The rivals are taken from a virtual environment of their own:

  python3 -m venv peers && peers/bin/pip install {" ".join(RIVALS.values())}
  python -m loadtests.overhead --peers-venv peers

Without it only this router is measured, against the engine itself:

  python -m loadtests.overhead --rounds 1 --seconds 1
  python -m loadtests.overhead --only drillyard --course many --course chunks

With the defaults five targets take about seven minutes. One target runs at a time, on a core of its own; the mock
engine, Redis and the load share another, so the machine must have two cores and nothing else to do. Leaves with 1 when
a target is missed.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    peers = [Peer(each) for each in given.only] or [each for each in Peer if given.peers_venv or each not in RIVALS]
    if given.peers_venv is None and set(peers) & set(RIVALS):
        return _refuse("the rivals need --peers-venv")
    known = courses(given.seconds)
    plan = Plan(
        peers=peers,
        courses=[each for each in known if each.name in (given.course or [each.name])],
        rounds=given.rounds,
        body_bytes=given.body_bytes,
        peers_venv=given.peers_venv,
    )
    try:
        table = measure(plan, progress=_say)
    except TargetFailed as error:
        return _refuse(str(error))
    judged = [each for peer in OWN if peer in peers for each in judge(table, peer)]
    if given.json is not None:
        made_with = {name: str(value) for name, value in vars(given).items()}
        given.json.write_text(as_json(table, judged, made_with))
    parts = (as_table(table, peers), as_ratios(table), as_verdict(judged), as_caution(table))
    sys.stdout.write("\n\n".join(part for part in parts if part) + "\n")
    return 1 if any(each.is_met is False for each in judged) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.overhead",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--peers-venv", type=Path, help="where the rivals are installed")
    parser.add_argument("--only", action="append", default=[], choices=list(Peer), help="a target; may be repeated")
    parser.add_argument("--course", action="append", choices=[each.name for each in courses(1)], help="likewise")
    parser.add_argument("--rounds", type=int, default=3, help="medians are taken over these (default 3)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each course (default 3)")
    parser.add_argument("--body-bytes", type=int, default=1_000, help="length of what a session says (default 1000)")
    parser.add_argument("--json", type=Path, help="write all figures there")
    return parser


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _refuse(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 2
