"""What the router alone, and the whole gateway, cost beside the fastest routers there are."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from loadtests.overhead.bench import Plan, courses, measure, turn_courses
from loadtests.overhead.load import Course
from loadtests.overhead.model_folder import model_folder
from loadtests.overhead.peers import OWN, RIVALS, Peer, is_installed
from loadtests.overhead.pinned import TargetFailed
from loadtests.overhead.report import as_caution, as_json, as_ratios, as_table, as_turns, as_verdict
from loadtests.overhead.verdict import judge, judge_gateway

_EPILOG = f"""\
The rivals are taken from a virtual environment of their own; those that are not there are left out:

  python3 -m venv peers && peers/bin/pip install {" ".join(f"'{each}'" for each in RIVALS.values())}
  python -m loadtests.overhead --peers-venv peers

Without it only this project is measured, against the engine itself. The whole gateway runs with Redis, Postgres,
sign-in, limits, phrase lists, sessions and records, and counts tokens by the model that `drillyard up` keeps:

  python -m loadtests.overhead --rounds 1 --seconds 1
  python -m loadtests.overhead --only drillyard --course many --course chunks
  python -m loadtests.overhead --only direct --only drillyard-gateway

With the defaults seven targets take about eighteen minutes. One target runs at a time, on a core of its own; the mock
engine, Redis and the load share another, so the machine must have two cores and nothing else to do. Leaves with 1 when
a target is missed.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    folder = given.model_folder or model_folder()
    peers = [Peer(each) for each in given.only] or _at_hand(given.peers_venv, folder)
    if given.peers_venv is None and set(peers) & set(RIVALS):
        return _refuse("the rivals need --peers-venv")
    if folder is None and Peer.GATEWAY in peers:
        return _refuse("the whole gateway needs --model-folder, a model's tokenizer and chat template")
    plan = Plan(
        peers=peers,
        courses=_chosen(courses(given.seconds), given.course),
        turn_courses=_chosen(turn_courses(given.seconds), given.course),
        rounds=given.rounds,
        body_bytes=given.body_bytes,
        peers_venv=given.peers_venv,
        model_folder=folder if Peer.GATEWAY in peers else None,
    )
    try:
        table = measure(plan, progress=_say)
    except TargetFailed as error:
        return _refuse(str(error))
    judged = [each for peer in OWN if peer in peers for each in judge(table, peer)]
    judged += judge_gateway(table) if Peer.GATEWAY in peers else ()
    if given.json is not None:
        made_with = {name: str(value) for name, value in vars(given).items()}
        given.json.write_text(as_json(table, judged, made_with))
    parts = (
        as_table(table, peers),
        as_turns(table, peers),
        as_ratios(table),
        as_verdict(judged),
        as_caution(table),
    )
    sys.stdout.write("\n\n".join(part for part in parts if part) + "\n")
    return 1 if any(each.is_met is False for each in judged) else 0


def _at_hand(peers_venv: Path | None, folder: Path | None) -> list[Peer]:
    """All but the rivals that are not installed, and the gateway without a model's folder."""
    missing = {rival for rival in RIVALS if peers_venv is None or not is_installed(rival, peers_venv)}
    if folder is None:
        missing.add(Peer.GATEWAY)
    return [each for each in Peer if each not in missing]


def _chosen(known: Sequence[Course], names: Sequence[str] | None) -> Sequence[Course]:
    return [each for each in known if each.name in (names or [each.name])]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.overhead",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [each.name for each in (*courses(1), *turn_courses(1))]
    parser.add_argument("--peers-venv", type=Path, help="where the rivals are installed")
    parser.add_argument("--only", action="append", default=[], choices=list(Peer), help="a target; may be repeated")
    parser.add_argument("--course", action="append", choices=names, help="likewise")
    parser.add_argument("--model-folder", type=Path, help="of the whole gateway; by default the newest in the cache")
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
