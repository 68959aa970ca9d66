"""How one certain pod is taken out of a Deployment, whose scale alone can be lowered.

Nobody can tell a Deployment which pod to give up: its ReplicaSet chooses. It goes by an order, though: pods without a
node first, then pending ones, then those that are not ready, then those whose deletion costs less. So the pod that is
to go is first marked: not ready, and cheaper than any other. Only when it stands first is the scale lowered, by one;
and then it is looked whom it hit. Before that the pod is given an *aim*, the scale that the lowering leads to, which
tells whoever comes next how far this came: a process may be killed between any two steps.

Where others would go first, none of which serves, there is a second way. The pod itself is deleted and then the scale
lowered: the ReplicaSet makes a pod in its place, and gives up a pending one.

A scale may also be too high for pods that there are not: no quota, no room. That much it is lowered without a victim.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from router.domain.fleet import ReplicaId


class PodRun(IntEnum):
    """In the order in which they are given up."""

    PENDING = 0
    UNKNOWN = 1
    RUNNING = 2
    OVER = 3
    """It failed or is done, is replaced already, and counts for nothing."""


@dataclass(frozen=True, slots=True)
class PodSeen:
    name: ReplicaId
    run: PodRun
    is_assigned: bool
    """Whether it has a node."""
    is_ready: bool
    is_gated: bool = True
    """Whether a mark can make it count as not ready."""
    cost: int = 0
    aim: int | None = None
    """The scale that is to be without it; None: it is not being taken out."""
    is_ending: bool = False

    @property
    def is_active(self) -> bool:
        """Whether its ReplicaSet counts it."""
        return not self.is_ending and self.run is not PodRun.OVER

    @property
    def place(self) -> tuple[bool, PodRun, bool, int]:
        """Where it stands when pods are given up. Those in one place may go in any order."""
        return self.is_assigned, self.run, self.is_ready, self.cost


@dataclass(frozen=True, slots=True)
class Crew:
    """The pods of a Deployment, and how many there should be."""

    scale: int
    pods: tuple[PodSeen, ...]
    is_changing: bool = False
    """A new version is being rolled out: who is given up is then up to the Deployment, by other rules."""

    @property
    def active(self) -> tuple[PodSeen, ...]:
        return tuple(pod for pod in self.pods if pod.is_active)

    def get(self, name: ReplicaId) -> PodSeen | None:
        return next((pod for pod in self.pods if pod.name == name), None)


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is left to do."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Look again; what is missing is for others to do."""

    reason: str


@dataclass(frozen=True, slots=True)
class Condemn:
    """Mark it as the one to go, and write the aim down."""

    aim: int


@dataclass(frozen=True, slots=True)
class Pardon:
    """Take the aim of another one back, which was never acted upon."""

    pod: ReplicaId


@dataclass(frozen=True, slots=True)
class Lower:
    scale: int


@dataclass(frozen=True, slots=True)
class Delete:
    """The pod itself; `scale` is what is set after it, None: as many are wanted, and another one comes in its place."""

    scale: int | None = None


@dataclass(frozen=True, slots=True)
class Restore:
    """The scale was lowered, and somebody else went."""

    scale: int
    spared: ReplicaId
    """Who was to go."""
    lost: tuple[ReplicaId, ...]
    """Who may have gone for it."""


Work = Hold | Condemn | Pardon | Lower | Delete | Restore
Step = Gone | Work


def next_step(crew: Crew, replica: ReplicaId, *, among: int) -> Step:
    """What to do now, so that it goes and `among` stay; with what is seen afterwards the question is asked again."""
    pod = crew.get(replica)
    if pod is None:
        return _without_it(crew, among)
    if pod.is_ending:
        return Gone()
    if not pod.is_active:
        return Delete()
    if (open_ := _open_lowering(crew)) is not None:
        return open_
    return Delete() if crew.scale <= among else _lowering(crew, pod)


def _lowering(crew: Crew, pod: PodSeen) -> Step:
    if crew.is_changing:
        return Hold("a new version of the Deployment is being rolled out")
    aim = crew.scale - 1
    if pod.aim != aim:
        return Condemn(aim)
    others = [other for other in crew.active if other.name != pod.name]
    if (aimed := next((other for other in others if other.aim is not None), None)) is not None:
        return Pardon(aimed.name)
    return _take_out(pod, others, crew.scale)


def _without_it(crew: Crew, among: int) -> Step:
    """A pod that was ordered and never came leaves a scale behind that is too high. Lowered so far it hits nobody."""
    scale = max(among, len(crew.active))
    is_calm = not crew.is_changing and _open_lowering(crew) is None
    return Lower(scale) if is_calm and scale < crew.scale else Gone()


def _open_lowering(crew: Crew) -> Step | None:
    """What a lowering that was ordered still asks for. With an aim the scale has reached, it was."""
    aimed = [pod for pod in crew.active if pod.aim is not None and crew.scale <= pod.aim]
    if not aimed:
        return None
    if len(crew.active) > crew.scale:
        return Hold("the scale is lowered, and no pod has been given up yet")
    spared = aimed[0]
    lost = tuple(pod.name for pod in crew.pods if pod.is_ending and pod.aim is None)
    return Restore((spared.aim or 0) + 1, spared.name, lost)


def _take_out(pod: PodSeen, others: Sequence[PodSeen], scale: int) -> Step:
    count = 1 + len(others)
    if count > scale:
        return Hold("there are more pods than there should be")
    if pod.is_ready and pod.is_gated:
        return Hold("it still counts as ready")
    is_sure = count == scale and not pod.is_ready and all(pod.place < other.place for other in others)
    return Lower(scale - 1) if is_sure else Delete(scale - 1)
