"""What a key may be used for, as it is written: the names of actions, in small letters."""

from collections.abc import Iterable, Sequence

from gateway.domain.access import ALLOWED, Action, Role
from gateway.errors import FieldInvalid

# Who hands out keys could hand out one without scopes.
_NEVER = frozenset({Action.MANAGE_KEYS})


def scope(action: Action) -> str:
    return action.name.lower()


def written_scopes(scopes: Iterable[Action] | None) -> list[str] | None:
    return None if scopes is None else sorted(scope(action) for action in scopes)


def read_scopes(written: Sequence[str] | None) -> frozenset[Action] | None:
    """Of a stored key; what a later version has called otherwise is allowed no more."""
    return None if written is None else frozenset(action for action in Action if scope(action) in written)


def asked_scopes(written: Sequence[str] | None, role: Role) -> frozenset[Action] | None:
    """Of a key that is to be made; raises `FieldInvalid` for none, and for what its role could not do anyway."""
    if written is None:
        return None
    fitting = {scope(action): action for action in Action if action in ALLOWED[role] - _NEVER}
    unfit = sorted({name for name in written if name not in fitting})
    if unfit or not written:
        named = ", ".join(unfit) or "an empty list"
        raise FieldInvalid("scopes", f"{named}: a key of the role {role} may have {', '.join(sorted(fitting))}")
    return frozenset(fitting[name] for name in written)
