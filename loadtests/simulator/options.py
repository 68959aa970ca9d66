"""How one simulated replica is set up: the part of vLLM's flags that shows on the wire, and a few of our own."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All times are simulated seconds, which pass `speed_up` times as fast as real ones."""

    served_model_name: str = "smollm2"
    model: Path | None = None
    """A folder in Hugging Face's layout, for its tokenizer and chat template; None: the built-in vocabulary."""
    seed: int = 0
    speed_up: float = 1.0
    host: str = "127.0.0.1"
    port: int = 8000
    admin_port: int | None = None
    """Serves /sim/... as well, from the first moment on and whatever happens to the other port."""
    shutdown_timeout_s: float = 0.0
    api_key: str | None = None
    dev_mode: bool = False
    enable_prompt_tokens_details: bool = False
    enable_request_id_headers: bool = False
    enable_server_load_tracking: bool = False
    enable_per_request_metrics: bool = False
    enable_force_include_usage: bool = False
    enable_scale_out: bool = False
    """Taken for the sake of files with vLLM's flags; those routes stay closed."""
    sse_keep_alive_interval_s: int = 0
