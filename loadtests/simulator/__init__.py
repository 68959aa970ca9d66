"""A replica without a GPU: speaks vLLM's HTTP API, and is honest about time, memory and failure.

A *profile* says how fast and how large the simulated replica is, and where its figures come from. The *engine*
decides step by step what a scheduler like vLLM's would do, in *simulated seconds*; a *speed-up* says how many of them
pass in a real one.
"""
