"""What a caller asks for beside the reply itself."""

from dataclasses import dataclass, field, replace

from router.domain.fleet import ReplicaId
from router.domain.pin import Demand, PinMode


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who waits when nothing has room: turns of one drill share the drill's place, those of one account the account's.

    A lower `priority` goes first, as in vLLM: 0 for a trainee who waits, more for batch work.
    """

    drill: str = ""
    account: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Asks:
    """How a call is to be placed."""

    demand: Demand = field(default_factory=Demand)
    prefer: ReplicaId | None = None
    """Where the session's last turn ran: without a pin it returns there."""
    mode: PinMode | None = None
    """None: as the settings say."""
    ticket: Ticket = field(default_factory=Ticket)
    may_continue: bool = True
    """Whether a reply that was begun may be continued at another replica."""

    @property
    def is_background(self) -> bool:
        """Whether it is no turn, though it may be of a session: nobody waits for it, and it gives way to turns."""
        return self.ticket.priority > 0


def with_priority(asks: Asks, priority: int) -> Asks:
    """The same at this priority; 0 leaves what was asked."""
    return replace(asks, ticket=replace(asks.ticket, priority=priority)) if priority else asks
