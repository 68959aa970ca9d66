"""How a command says that it could not do its work."""

INTERRUPTED = 130
"""The exit status of a command that a signal ended: 128 and the number of SIGINT."""


class CommandFailed(Exception):
    """A foreseeable fault: what happened and what to do next, told in one line and never as a traceback."""

    def __init__(self, what: str, *, advice: str | None = None) -> None:
        super().__init__(f"{what}; {advice}" if advice else what)
