"""What the words of a report mean; docs/load-drills.md says the same at length."""

DEFINITIONS = (
    ("first text (TTFT)", "From the first byte of a message sent to the first chunk of its reply that holds text."),
    (
        "from the timetable",
        "The same, counted from when the message was planned: whoever was kept waiting before it could be sent counts "
        "too. All trainees' messages are planned before the run, whatever the system does.",
    ),
    ("whole reply (E2E)", "From the first byte of a message sent to the last chunk of its reply that holds text."),
    (
        "time per token (TPOT)",
        "From the first text to the last, divided by the tokens after the first. A reply of one token has none.",
    ),
    ("longest pause", "The longest gap between two chunks of one reply."),
    (
        "percentiles",
        "Nearest rank, over all turns that were started. A turn that failed, or had no text, counts as infinite (told "
        "as no answer), so that failures cannot make a run look quicker.",
    ),
    ("failed", "Refused, ended by an error or without an end, too late, or stopped by moderation though harmless."),
    ("good turns, goodput", "Turns that kept every limit of the targets at once; goodput is their number per second."),
    (
        "cold",
        "A second or later turn that found less than half of what its session had before in the replica's cache. "
        "Moved: it ran at another replica. Lost: its replica had been broken, and came back empty. "
        "Folded: its history was shortened. Evicted: the cache had let go of it.",
    ),
    ("affinity broken", "A turn at another replica than the one before, which neither a fault nor a drain explains."),
    ("lost, doubled, altered", "What the stored record says of a session, held against what its trainee heard."),
    ("client lag", "How late this client itself sent and woke, in real seconds. Where it is large the run is void."),
    ("knee", "The fewest trainees at which throughput divided by the time to first text is at its greatest."),
    ("completed drill", "A session whose trainee took every turn of the timetable."),
    (
        "replica-seconds",
        "Of every replica that was up, from the first look at it to the last; divided by completed drills, and at the "
        "given price, they are the cost per drill.",
    ),
    (
        "drill seconds",
        "Simulated replicas may run faster than real time; all times but the client's lag are told in their time.",
    ),
)
