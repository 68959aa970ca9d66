"""Plays the same class in one arm after the other, on the same two real replicas."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from loadtests.beside.arms import Arm, Size
from loadtests.beside.engines import at_rest, model_of
from loadtests.beside.result import Result, continued
from loadtests.beside.words import Words
from loadtests.conduct.conductor import conduct
from loadtests.conduct.order import Order
from loadtests.conduct.stack import RunningStack
from loadtests.domain.drill import Drill
from loadtests.domain.targets import DEFAULT
from loadtests.overhead.peers import Peer, Setting, command_of, files_of, ready_path_of
from loadtests.overhead.pinned import free_port, pinned
from loadtests.run_files import read_rows
from loadtests.run_folder import RunFolder
from loadtests.target import Asked, Target, target

_LOADS_WITHIN_S = 240.0
_MORE_S = 25.0
"""What an arm takes beside its class: to start a router and the trainees, and to write the report."""
_LOADING_S = 60.0
_SLOWER = 1.3

_TARGETS = replace(DEFAULT, client_lag_p99_s=0.25)
"""The replicas take the cores on which the trainees run, and first tokens take a multiple of this."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    arms: Sequence[Arm]
    size: Size
    ends_at: float
    """Of the monotonic clock: an arm that would not have ended by then is left out."""
    folder: Path
    """Each arm has the folder of its run below it."""
    peers_venv: Path | None


class ClassBeside:
    """For a stack whose two replicas are real."""

    def __init__(self, plan: Plan, stack: RunningStack, *, say: Say) -> None:
        self._plan = plan
        self._stack = stack
        self._say = say
        with Words(stack.ready()) as words:
            scenario = words.scenario(reply_tokens=plan.size.reply_tokens)
        self._own = target(Asked(data=stack.data, scenario=scenario))
        self._words = self._served = ""

    def results(self) -> Iterator[Result]:
        """Of each arm as it ends. Raises `DrillFailed`, `NotAtRest` and `TargetFailed`."""
        for number, arm in enumerate(self._plan.arms, start=1):
            told = f"{number} of {len(self._plan.arms)}: {arm.name}{', a replica killed' if arm.is_killed else ''}"
            if time.monotonic() + needed_s(arm, self._plan.size) > self._plan.ends_at:
                self._say(f"{told}: left out, since the time is over")
                continue
            self._say(told)
            yield self._result(arm)

    def _result(self, arm: Arm) -> Result:
        replicas = self._own.replicas
        at_rest(replicas, within_s=_LOADS_WITHIN_S)
        drill = arm.drill(self._plan.size)
        with self._aimed(arm, drill) as aim:
            before = at_rest(replicas, within_s=_LOADS_WITHIN_S)
            folder = RunFolder(self._plan.folder / arm.folder)
            outcome = conduct(Order(drill=drill, target=aim, folder=folder, targets=_TARGETS), say=self._say)
        result = Result(arm=arm, figures=outcome.figures, continued=continued(read_rows(folder)), void=outcome.void)
        if arm.is_killed:
            return result
        work = at_rest(replicas, within_s=_LOADS_WITHIN_S).since(before)
        return replace(result, prompts=sum(work.prompts.values()), computed=work.computed, by_replica=work.prompts)

    @contextmanager
    def _aimed(self, arm: Arm, drill: Drill) -> Iterator[Target]:
        if arm.peer is Peer.GATEWAY:
            yield self._own
            return
        with self._router(arm) as url:
            yield Target(
                base_urls=(url,),
                model=self._model(),
                # Else the caches would know the beginning from the arm before.
                system=f"[{drill.digest} {arm.folder}]\n\n{self._beginning()}",
                replicas=self._own.replicas,
                ready_file=self._stack.ready_file,
            )

    @contextmanager
    def _router(self, arm: Arm) -> Iterator[str]:
        """Fresh, so that it knows nothing of the arm before."""
        folder = self._plan.folder / "routers"
        folder.mkdir(parents=True, exist_ok=True)
        at = Setting(
            port=free_port(),
            metrics_port=free_port(),
            replicas=[each.url for each in self._own.replicas],
            redis_url="",
            peers_venv=self._plan.peers_venv,
            folder=folder,
            model=self._model(),
        )
        for name, content in files_of(arm.peer, at).items():
            (folder / name).write_text(content)
        url = f"http://127.0.0.1:{at.port}"
        ready = f"{url}{ready_path_of(arm.peer)}"
        with pinned(command_of(arm.peer, at), core=None, log=folder / f"{arm.folder}.log", ready=ready):
            yield url

    def _beginning(self) -> str:
        """Asked for once, and not before our own arm: a session that opens has its beginning sent ahead."""
        if not self._words:
            with Words(self._stack.ready()) as words:
                self._words = words.beginning(self._own.scenario)
        return self._words

    def _model(self) -> str:
        self._served = self._served or model_of(self._own.replicas[0])
        return self._served


def needed_s(arm: Arm, size: Size) -> float:
    """About."""
    return arm.length_s(size) * _SLOWER + _MORE_S + (_LOADING_S if arm.is_killed else 0.0)
