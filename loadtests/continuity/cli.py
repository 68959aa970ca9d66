"""Kills, stops and cuts off replicas in the middle of streams, and leaves with 1 when anybody could have noticed."""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from loadtests.continuity.house import House
from loadtests.continuity.rounds import RoundResult, Rounds


def main(words: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        results = asyncio.run(_played(chosen, Path(chosen.log or f"{folder}/router.log")))
    return _verdict(results, streams=chosen.streams)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loadtests.continuity", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--streams", type=int, default=100, help="at the replica that is lost")
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--speed-up", type=float, default=3.0, help="of the simulated replicas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--by-text", action="store_true", help="without token ids; usage is then not compared")
    parser.add_argument("--log", help="a file for what the router logs")
    return parser


async def _played(chosen: argparse.Namespace, log: Path) -> list[RoundResult]:
    is_by_text = bool(chosen.by_text)
    with House(
        replicas=chosen.replicas, speed_up=chosen.speed_up, seed=chosen.seed, token_ids=not is_by_text, log=log
    ) as house:
        rounds = Rounds(
            house,
            streams=chosen.streams,
            max_tokens=chosen.max_tokens,
            seed=chosen.seed,
            counts_tokens=not is_by_text,
        )
        await rounds.learn()
        results = []
        for number in range(chosen.rounds):
            results.append(await rounds.play(number))
            _say(results[-1])
        return results


def _say(result: RoundResult) -> None:
    sys.stdout.write(
        f"round {result.number:3d}: {result.loss:12s} after {result.after_events:6d} events, "
        f"{result.continued:4d} continued, {len(result.failures)} failed\n"
    )
    for failure in result.failures[:5]:
        sys.stdout.write(f"    {failure}\n")
    sys.stdout.flush()


def _verdict(results: Sequence[RoundResult], *, streams: int) -> int:
    failed = sum(len(each.failures) for each in results)
    kinds = Counter(each.loss.value for each in results)
    continued = sum(each.continued for each in results)
    sys.stdout.write(
        f"{len(results)} rounds ({', '.join(f'{count} {kind}' for kind, count in kinds.items())}), "
        f"{len(results) * streams} streams, {continued} continued at another replica, {failed} failed\n"
    )
    return 1 if failed else 0
