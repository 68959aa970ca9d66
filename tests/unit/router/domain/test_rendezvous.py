"""The favourite replica of a key."""

import subprocess
import sys
from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.rendezvous import favourite, number_of, start_of

keys = st.text(max_size=40).map(AffinityKey)
replicas = st.lists(st.text(max_size=20).map(ReplicaId), unique=True, min_size=1, max_size=12)
NAMES = tuple(ReplicaId(f"replica-{number}") for number in range(20))


@given(keys, replicas, st.randoms())
def test_the_order_of_asking_does_not_matter(key: AffinityKey, names: list[ReplicaId], dice: Random) -> None:
    shuffled = sorted(names, key=lambda _: dice.random())
    assert favourite(key, tuple(shuffled)) == favourite(key, tuple(names))


@given(keys, replicas, st.data())
def test_taking_another_replica_away_moves_nobody(
    key: AffinityKey, names: list[ReplicaId], data: st.DataObject
) -> None:
    best = favourite(key, tuple(names))
    gone = data.draw(st.sampled_from(names))
    if gone != best:
        assert favourite(key, tuple(name for name in names if name != gone)) == best


def test_another_process_comes_to_the_same_answers() -> None:
    keys_asked = [f"s-{number}" for number in range(20)]
    program = (
        "from router.domain.rendezvous import favourite, start_of\n"
        f"print([(favourite(key, {tuple(NAMES)!r}), start_of(key)) for key in {keys_asked!r}])"
    )
    seen = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    here = [(favourite(AffinityKey(key), NAMES), start_of(AffinityKey(key))) for key in keys_asked]
    assert seen.stdout.strip() == str(here)


def test_favourites_spread_evenly_also_over_what_one_replica_leaves() -> None:
    chosen = {
        AffinityKey(f"model\nsession-{n}"): favourite(AffinityKey(f"model\nsession-{n}"), NAMES) for n in range(20_000)
    }
    counts = Counter(chosen.values())
    assert len(counts) == 20
    assert min(counts.values()) > 880
    assert max(counts.values()) < 1_120
    orphans = [key for key, replica in chosen.items() if replica == NAMES[0]]
    heirs = Counter(favourite(key, NAMES[1:]) for key in orphans)
    assert len(heirs) == 19
    assert max(heirs.values()) < 100


@given(st.text())
def test_a_number_has_61_bits_and_is_never_nothing(name: str) -> None:
    assert 0 < number_of(name) < 2**61 - 1
    assert 0 <= start_of(AffinityKey(name)) < 2**32
