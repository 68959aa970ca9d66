"""Keys of the pin store, of prewarms and of remembered prompts: one session in two pools is two pins."""

from router.domain.fleet import AffinityKey


def pin_key(model: str, session: AffinityKey) -> AffinityKey:
    return AffinityKey(f"{model}\n{session}")


def model_of(pinned: AffinityKey) -> str:
    """The pool of such a key; no model's name has two lines."""
    return pinned.partition("\n")[0]
