import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Command, Ended
from tests.integration.cli.wire_server import EN, KEYS, ZH, WireServer, Wrong

ROOT = Path(__file__).parents[3]


def drill(drillyard: Command, server: WireServer, *words: str, turns: int = 2, trainees: int = 1) -> Ended:
    return drillyard(
        *("drill", "run", "--base-url", server.base_url, "--key", KEYS[0], "--scenario", "zh", "--think", "0"),
        *("--turns", str(turns), "--trainees", str(trainees), *words),
    )


def test_a_drill_in_which_all_goes_well_passes(drillyard: Command, server: WireServer, tmp_path: Path) -> None:
    ended = drill(drillyard, server, "--key", KEYS[1], "--json", str(tmp_path / "out.json"), turns=3, trainees=4)
    assert ended.code == 0, ended
    assert "12 of 12 turns by 4 trainees" in ended.out
    assert "drill passed" in ended.out
    assert len(server.rooms) == 4
    assert {room.state for room in server.rooms.values()} == {"closed"}
    assert {room.scenario for room in server.rooms.values()} == {ZH}
    told = json.loads((tmp_path / "out.json").read_text())
    assert len(told["turns"]) == 12
    assert told["summary"]["totals"]["prompt_tokens"] == 4 * (100 + 200 + 300)
    assert told["summary"]["totals"]["cached_tokens"] == 4 * (50 + 150 + 250)
    assert [row["pin"] for row in told["turns"] if row["trainee"] == 1] == ["new", "kept", "kept"]
    assert all(0 < row["ttft_s"] <= row["total_s"] for row in told["turns"])
    assert "secret" not in json.dumps(told)


def test_sessions_of_a_drill_differ(drillyard: Command, server: WireServer) -> None:
    assert drill(drillyard, server, turns=1, trainees=3).code == 0
    assert len({str(room.turns[0]["text"]) for room in server.rooms.values()}) == 3


def test_the_time_to_the_first_text_does_not_begin_with_acceptance(
    drillyard: Command, server: WireServer, tmp_path: Path
) -> None:
    server.delay_s = 0.3
    assert drill(drillyard, server, "--json", str(tmp_path / "out.json"), turns=1).code == 0
    (row,) = json.loads((tmp_path / "out.json").read_text())["turns"]
    assert 0.3 <= row["ttft_s"] < 0.6


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (Wrong.CUT, "stream_cut"),
        (Wrong.ERROR_EVENT, "replica_broke"),
        (Wrong.OTHER_RECORD, "reply_differs"),
        (Wrong.NO_END, "no_terminal_event"),
        (Wrong.STALL, "timed_out"),
        (Wrong.UNAVAILABLE, "no_replica"),
        (Wrong.BROKEN, "http_502"),
        (Wrong.NOT_STORED, "turn_not_found"),
        (Wrong.WRONG_NUMBER, "wrong_turn_number"),
        (Wrong.BLOCKED, "blocked"),
    ],
)
def test_each_fault_fails_the_drill_by_its_name(
    drillyard: Command, server: WireServer, wrong: Wrong, code: str
) -> None:
    server.wrong[2] = wrong
    ended = drill(drillyard, server, "--timeout", "2")
    assert ended.code == 1, ended
    assert f"trainee 1 turn 2: failed: {code}:" in ended.out
    assert "drill FAILED" in ended.out
    assert {room.state for room in server.rooms.values()} == {"closed"}


def test_a_turn_refused_for_a_moment_is_sent_again_under_the_same_key(drillyard: Command, server: WireServer) -> None:
    server.wrong[2] = Wrong.BUSY_ONCE
    ended = drill(drillyard, server)
    assert ended.code == 0, ended
    assert "1 were refused for a moment and sent again" in ended.out
    (room,) = server.rooms.values()
    first, second, third = room.heads
    assert first != second == third


def test_events_torn_into_bytes_are_read_whole(drillyard: Command, server: WireServer) -> None:
    server.wrong[1] = Wrong.TORN
    assert drill(drillyard, server, turns=1).code == 0


def test_a_session_that_changes_its_replica_is_named(drillyard: Command, server: WireServer) -> None:
    server.wrong[2] = Wrong.MOVED
    ended = drill(drillyard, server)
    assert ended.code == 0
    assert "sessions that changed their replica: 1" in ended.out
    assert "trainee 1 turn 2: replica-0 -> replica-1 (moved)" in ended.out


def test_a_trainee_gives_up_after_three_failures_in_a_row(drillyard: Command, server: WireServer) -> None:
    server.wrong[1] = Wrong.ERROR_EVENT
    ended = drill(drillyard, server, turns=9)
    assert ended.code == 1
    assert "gave_up" in ended.out
    assert "3 of 9 turns" in ended.out


def test_a_drill_without_a_single_turn_fails(drillyard: Command, server: WireServer) -> None:
    server.refuse_starts = True
    ended = drill(drillyard, server)
    assert ended.code == 1
    assert "no_seat" in ended.out
    assert "0 of 2 turns" in ended.out


def test_a_scenario_is_found_by_a_part_of_its_title(drillyard: Command, server: WireServer) -> None:
    assert drill(drillyard, server, "--scenario", "ANGRY").code == 0
    assert {room.scenario for room in server.rooms.values()} == {EN}


def test_an_unknown_scenario_is_answered_with_what_there_is(drillyard: Command, server: WireServer) -> None:
    ended = drill(drillyard, server, "--scenario", "fr")
    assert ended.code == 1
    assert "no scenario is named 'fr'" in ended.err
    assert EN in ended.err
    assert ZH in ended.err


def test_more_turns_than_the_scenario_allows_are_refused_before_the_drill(
    drillyard: Command, server: WireServer
) -> None:
    server.max_turns = 1
    ended = drill(drillyard, server)
    assert ended.code == 1
    assert "give --turns 1 or less" in ended.err
    assert not server.rooms


def test_a_wrong_key_is_told_in_one_line(drillyard: Command, server: WireServer) -> None:
    ended = drillyard("drill", "run", "--base-url", server.base_url, "--key", "dy_no_thing")
    assert ended.code == 1
    assert ended.err == "drillyard: 401 unauthenticated: the API key is not valid; give a valid --key\n"


def test_a_server_that_is_not_there_is_told_in_one_line(drillyard: Command) -> None:
    ended = drillyard("drill", "run", "--base-url", "http://127.0.0.1:1", "--key", KEYS[0])
    assert ended.code == 1
    assert ended.err.startswith("drillyard: nothing answers at http://127.0.0.1:1; start one with `make demo`")


def test_the_running_stack_is_found_by_its_ready_file(drillyard: Command, server: WireServer, tmp_path: Path) -> None:
    ready = {
        "base_url": server.base_url,
        "keys": {"operator": "x", "trainees": list(KEYS)},
        "scenarios": [{"id": EN, "locale": "en-GB"}],
    }
    folder = tmp_path / ".drillyard"
    folder.mkdir()
    (folder / "ready.json").write_text(json.dumps(ready))
    ended = drillyard("drill", "run", "--turns", "1", "--trainees", "2", "--think", "0")
    assert ended.code == 0, ended
    assert {room.scenario for room in server.rooms.values()} == {EN}


def test_wrong_usage_leaves_with_two(drillyard: Command) -> None:
    assert drillyard("drill", "run", "--turns", "0").code == 2
    assert drillyard("drill", "run", "--tuns", "1").code == 2
    assert drillyard("drill", "rum").code == 2


def test_ctrl_c_stops_the_turn_closes_the_session_and_leaves_with_130(server: WireServer, tmp_path: Path) -> None:
    server.wrong[2] = Wrong.STALL
    rows = tmp_path / "out.json"
    command = [sys.executable, "-m", "gateway.cli.main", "drill", "run", "--base-url", server.base_url]
    command += ["--key", KEYS[0], "--scenario", "zh", "--trainees", "1", "--think", "0", "--json", str(rows)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert server.reached.wait(timeout=30)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert running.returncode == 130, (out, err)
    assert "drill stopped before its end" in out
    assert err == ""
    (room,) = server.rooms.values()
    assert server.cancelled == [(room.id, 2)]
    assert room.state == "closed"
    told = json.loads(rows.read_text())
    assert told["drill"]["stopped"] is True
    assert len(told["turns"]) == 1
