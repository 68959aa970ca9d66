from pathlib import Path

from gateway.local.bundled_model import Model
from gateway.local.sim_replica import Simulation, Tuning, sim_service

SIMULATION = Simulation(
    model=Model(folder=Path("/m"), name="small"),
    tuning=Tuning(profile="h200-7b", speed_up=20.0),
    window_tokens=2048,
    logs=Path("/logs"),
)
FLAGS = {
    "--port": "9",
    "--model": "/m",
    "--served-model-name": "small",
    "--max-model-len": "2048",
    "--profile": "h200-7b",
    "--speed-up": "20.0",
    "--scheduling-policy": "priority",
}


def test_a_simulated_replica_lends_the_model_its_name_window_and_tokenizer() -> None:
    service = sim_service(SIMULATION, "replica-2", 9)
    words = service.command.argv
    assert service.name == "replica-2"
    assert words[words.index("-m") + 1] == "loadtests.simulator"
    for flag, value in FLAGS.items():
        assert words[words.index(flag) + 1] == value
    assert "--enable-prompt-tokens-details" in words


def test_one_that_does_not_answer_is_not_ready() -> None:
    assert sim_service(SIMULATION, "replica-1", 9).waiting_for() is not None
