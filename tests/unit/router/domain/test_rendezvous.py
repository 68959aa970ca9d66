"""The order of replicas per key."""

import subprocess
import sys
from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.rendezvous import rank

keys = st.text(max_size=40).map(AffinityKey)
replicas = st.lists(st.text(max_size=20).map(ReplicaId), unique=True, max_size=12)


@given(keys, replicas)
def test_every_replica_is_ranked_once(key: AffinityKey, names: list[ReplicaId]) -> None:
    assert sorted(rank(key, names)) == sorted(names)


@given(keys, replicas, st.randoms())
def test_the_order_of_asking_does_not_matter(key: AffinityKey, names: list[ReplicaId], dice: Random) -> None:
    shuffled = sorted(names, key=lambda _: dice.random())
    assert rank(key, shuffled) == rank(key, names)


@given(keys, replicas.filter(bool), st.data())
def test_taking_one_replica_away_leaves_the_others_in_order(
    key: AffinityKey, names: list[ReplicaId], data: st.DataObject
) -> None:
    gone = data.draw(st.sampled_from(names))
    assert rank(key, [name for name in names if name != gone]) == [name for name in rank(key, names) if name != gone]


def test_another_process_comes_to_the_same_order() -> None:
    names = [ReplicaId(f"replica-{number}") for number in range(9)]
    program = "from router.domain.rendezvous import rank; print(rank('s-1', [f'replica-{n}' for n in range(9)]))"
    seen = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert seen.stdout.strip() == str(rank(AffinityKey("s-1"), names))


def test_favourites_spread_evenly() -> None:
    names = [ReplicaId(f"replica-{number}") for number in range(10)]
    favourites = Counter(rank(AffinityKey(f"session-{number}"), names)[0] for number in range(5_000))
    assert min(favourites.values()) > 400
    assert max(favourites.values()) < 600
