"""One session in two pools is two pins."""

from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import AffinityKey
from router.domain.pin_key import model_of, pin_key

models = st.text(st.characters(exclude_characters="\n"))
sessions = st.text().map(AffinityKey)


@given(models, sessions)
def test_a_key_tells_its_pool(model: str, session: AffinityKey) -> None:
    assert model_of(pin_key(model, session)) == model


@given(models, sessions, models, sessions)
def test_keys_of_different_sessions_or_pools_never_meet(
    model: str, session: AffinityKey, other: str, another: AffinityKey
) -> None:
    assert (pin_key(model, session) == pin_key(other, another)) == ((model, session) == (other, another))
