from gateway.local.seed import Keys


def test_keys_do_not_show_in_a_representation() -> None:
    keys = Keys(operator="op-1", instructor="in-1", service="sv-1", trainees=("tr-1",))
    assert repr(keys) == "Keys()"
