from gateway.cli.failure import CommandFailed


def test_a_failure_says_what_to_do_next_where_something_can_be_done() -> None:
    assert str(CommandFailed("it broke", advice="mend it")) == "it broke; mend it"
    assert str(CommandFailed("it broke")) == "it broke"
