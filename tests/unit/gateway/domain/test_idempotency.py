import pytest

from gateway.domain.idempotency import MAX_KEY_CHARS, idempotency_key
from gateway.errors import IdempotencyKeyInvalid


def test_without_a_header_there_is_no_key() -> None:
    assert idempotency_key([], "text") is None


@pytest.mark.parametrize("key", ["a", "a b", "~" * MAX_KEY_CHARS, '"quoted"'])
def test_a_printable_key_is_kept_as_it_is(key: str) -> None:
    found = idempotency_key([key], "text")
    assert found is not None
    assert found.key == key


@pytest.mark.parametrize("keys", [[""], ["  "], ["a" * (MAX_KEY_CHARS + 1)], ["ä"], ["a\tb"], ["a\x7f"], ["a", "a"]])
def test_any_other_key_is_refused(keys: list[str]) -> None:
    with pytest.raises(IdempotencyKeyInvalid):
        idempotency_key(keys, "text")


def digest(*asked: str | dict[str, str] | None) -> str:
    found = idempotency_key(["key"], *asked)
    assert found is not None
    return found.digest


def test_the_digest_tells_whether_the_same_is_asked() -> None:
    assert digest("a", None, {"x": "1", "y": "2"}) == digest("a", None, {"y": "2", "x": "1"})
    others = [("b", None, {}), ("a", "", {}), ("a", None, {"x": "1"}), ("a,None", {}), ("a", None)]
    digests = {digest("a", None, {}), *(digest(*asked) for asked in others)}
    assert len(digests) == 1 + len(others)
