"""The whole service on one machine: real Redis, Postgres and vLLM as supervised children of one command.

A *command* says how a process is run; a *child* is one running process with its own group; a *service* is a command
with a probe that says when it is ready; the *children* object starts, waits for and stops them; the *ledger* is the
note on disk by which the next start finds what a killed one left running.
"""

from gateway.local.errors import LocalStackError, StopAsked

__all__ = ["LocalStackError", "StopAsked"]
