"""The same class on the same real replicas, through this product and through other routers."""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from loadtests.beside.arms import Kills, Size, arms
from loadtests.beside.class_beside import ClassBeside, Plan
from loadtests.beside.engines import NotAtRest
from loadtests.beside.result import Result
from loadtests.beside.tables import tables
from loadtests.conduct.facts import load_average
from loadtests.conduct.order import DrillFailed
from loadtests.conduct.stack import StackFailed, StackPlan, UnknownFleet, own_stack, plan_of
from loadtests.overhead.peers import RIVALS, Peer, is_installed
from loadtests.overhead.pinned import TargetFailed
from loadtests.target import TargetRefused

_OWN = (Peer.GATEWAY, Peer.MEMORY)
_REPLY_TOKENS = 40
_EPILOG = f"""\
Two vLLM replicas on CPU, one core each, are started as `drillyard up` starts them. A scripted class is played through
sessions of this product, then through each router with the history kept by the client: all of it, and the latest
messages alone. Then once more, and one replica is killed in the middle.

  python3 -m venv peers && peers/bin/pip install {" ".join(f"'{each}'" for each in RIVALS.values())}
  python -m loadtests.beside --peers-venv peers --json beside.json

The replicas take both cores of a small machine, and the routers and the trainees run on the same: compare arms of one
run, and first of all what the replicas had to compute, which no noise changes.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if given.peers_venv is None and set(given.only) & set(RIVALS):
        return _refuse("the rivals need --peers-venv")
    peers = [Peer(each) for each in given.only] or [*_OWN, *_installed(given.peers_venv)]
    size = Size(trainees=given.trainees, turns=given.turns, reply_tokens=_REPLY_TOKENS, seed=given.seed)
    plan = Plan(
        arms=arms(peers, Kills(given.kills)),
        size=size,
        ends_at=time.monotonic() + given.minutes * 60,
        folder=given.out / time.strftime("%Y%m%d-%H%M%S", time.gmtime()),
        peers_venv=given.peers_venv,
    )
    results: list[Result] = []
    before = load_average()
    try:
        _play(plan, plan_of(given.fleet), results)
    except (DrillFailed, NotAtRest, StackFailed, TargetFailed, TargetRefused, UnknownFleet) as error:
        _say(f"it ended early: {error}")
    if given.json is not None:
        given.json.write_text(_as_json(results, plan, before))
    sys.stdout.write(tables(results, turns=size.turns) + "\n")
    return 0 if len(results) == len(plan.arms) else 1


def _installed(peers_venv: Path | None) -> list[Peer]:
    return [each for each in RIVALS if peers_venv is not None and is_installed(each, peers_venv)]


def _play(plan: Plan, fleet: StackPlan, results: list[Result]) -> None:
    """What has come stays, whatever happens after it."""
    with own_stack(fleet, say=_say) as stack:
        for result in ClassBeside(plan, stack, say=_say).results():
            results.append(result)


def _as_json(results: Sequence[Result], plan: Plan, before: object) -> str:
    told = {
        "machine": {"cores": os.cpu_count(), "kind": platform.machine(), "python": platform.python_version()},
        "load_average": {"before": before, "after": load_average()},
        "size": {name: getattr(plan.size, name) for name in ("trainees", "turns", "reply_tokens", "seed")},
        "left_out": [each.name for each in plan.arms if each not in {result.arm for result in results}],
        "results": [each.as_json() for each in results],
    }
    return json.dumps(told, indent=1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.beside",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [*_OWN, *RIVALS]
    parser.add_argument(
        "--peers-venv", type=Path, help="where the rivals are installed; those that are not are left out"
    )
    parser.add_argument("--only", action="append", default=[], choices=names, help="may be repeated")
    parser.add_argument("--fleet", default="vllm:2", help="two replicas: vllm:2 (the default), or sim:2[:PROFILE]")
    parser.add_argument("--trainees", type=int, default=4)
    parser.add_argument("--turns", type=int, default=16, help="of each trainee (default 16)")
    parser.add_argument(
        "--kills", choices=list(Kills), default=Kills.TOO, help="classes that lose a replica, too or only"
    )
    parser.add_argument("--minutes", type=float, default=15.0, help="leave out what would take longer (default 15)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(".drillyard/beside"), help="each arm has a folder below it")
    parser.add_argument("--json", type=Path, help="write all figures there")
    return parser


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _refuse(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 2
