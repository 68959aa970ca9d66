"""Pins a session to a replica and carries its turns there; knows nothing of trainees.

A *replica* is one vLLM server, the *fleet* all of them. A *pin* remembers, with a *generation*, which replica holds a
session's KV cache. A session is known here only by its opaque *affinity key*.
"""
