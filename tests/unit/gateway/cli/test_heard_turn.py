import pytest

from gateway.cli.api_client import TimedEvent
from gateway.cli.heard_turn import HeardTurn, fault_of, fault_of_record
from gateway.cli.wire import Accepted, Blocked, Cancelled, Delta, Done, Failed, TurnEvent, TurnView

ACCEPTED = Accepted(session_id="s", turn=3, replica="a")
DONE = Done(turn=3, finish_reason="stop", replica="a")


def heard(*events: TurnEvent) -> HeardTurn:
    found = HeardTurn()
    for at, event in enumerate(events, start=1):
        found.take(TimedEvent(float(at), event))
    return found


def code(turn: HeardTurn, *, expected: int = 3) -> str | None:
    fault = fault_of(turn, expected_number=expected)
    return fault.code if fault is not None else None


def test_a_turn_that_went_well_has_no_fault() -> None:
    turn = heard(ACCEPTED, Delta(text=""), Delta(text="你"), Delta(text="好"), DONE)
    assert code(turn) is None
    assert turn.text == "你好"
    assert turn.first_text_at == 3.0  # an empty delta is no text
    assert turn.ended_at == 5.0
    assert (turn.number, turn.replica) == (3, "a")


def test_a_turn_that_was_continued_elsewhere_belongs_to_the_later_replica() -> None:
    assert heard(ACCEPTED, Done(turn=3, finish_reason="stop", replica="b", continued=True)).replica == "b"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), "no_terminal_event"),
        ((ACCEPTED, Delta(text="x")), "no_terminal_event"),
        ((ACCEPTED, Failed(code="replica_broke")), "replica_broke"),
        ((ACCEPTED, Blocked(reason="policy")), "blocked"),
        ((ACCEPTED, Cancelled()), "cancelled"),
        ((Delta(text="x"), ACCEPTED, DONE), "event_order"),
        ((ACCEPTED, ACCEPTED, DONE), "event_order"),
        ((DONE,), "event_order"),
        ((ACCEPTED, DONE, Delta(text="x")), "event_after_end"),
        ((ACCEPTED, DONE, DONE), "event_after_end"),
        ((ACCEPTED, Done(turn=4, finish_reason="stop")), "wrong_turn_number"),
        ((ACCEPTED, Done(turn=3, finish_reason=None)), "no_finish_reason"),
        ((ACCEPTED, Done(turn=3, finish_reason="abort")), "no_finish_reason"),
    ],
)
def test_each_fault_of_a_stream_has_its_name(events: tuple[TurnEvent, ...], expected: str) -> None:
    assert code(heard(*events)) == expected


def test_a_turn_numbered_otherwise_than_expected_is_a_fault() -> None:
    assert code(heard(ACCEPTED, DONE), expected=2) == "wrong_turn_number"


def test_the_first_end_is_the_end() -> None:
    assert heard(ACCEPTED, DONE, Cancelled()).end == DONE


def stored(*, state: str = "completed", text: str = "hello", reply: str = "secret words") -> TurnView:
    return TurnView(turn=3, state=state, text=text, reply=reply)


def test_a_record_equal_to_what_was_heard_has_no_fault() -> None:
    turn = heard(ACCEPTED, Delta(text="secret"), Delta(text=" words"), DONE)
    assert fault_of_record(turn, stored(), said="hello") is None


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (stored(reply="secret word"), "reply_differs"),
        (stored(reply="secret words."), "reply_differs"),
        (stored(text="hallo"), "text_differs"),
        (stored(state="failed"), "state_differs"),
    ],
)
def test_a_record_that_differs_is_told_without_its_words(record: TurnView, expected: str) -> None:
    turn = heard(ACCEPTED, Delta(text="secret words"), DONE)
    fault = fault_of_record(turn, record, said="hello")
    assert fault is not None
    assert fault.code == expected
    assert "secret" not in fault.message


def test_the_place_of_the_first_difference_is_told() -> None:
    fault = fault_of_record(heard(ACCEPTED, Delta(text="secret swords"), DONE), stored(), said="hello")
    assert fault is not None
    assert fault.message.endswith("at character 7 (12 stored, 13 here)")
