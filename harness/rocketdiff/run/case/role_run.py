"""What a case of one role does between the steps that every case has (``case_run``)."""

from collections.abc import Collection, Iterable
from typing import Protocol

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.run_info import Guard


class NotClaimed(Exception):
    """The plan contains operations that a client does not claim: the case is invalid, the run continues."""


class NotSettled(Exception):
    """The clients could not be brought into the state in which a case begins: the case is invalid, the run continues."""


class RoleRun(Protocol):
    """The part of a case that depends on its role, called in the order of the methods; it holds the ``CaseRun``."""

    members: tuple[Member, ...]
    """Every program of the case, in the order in which they are started."""

    is_leaving_work: bool
    """True if what the members do after ``catch_up`` is compared, so that nothing else may run on the machine until they have left."""

    def create_topics(self) -> None:
        """Create what the members need on the servers. Raises ClusterError."""

    def require_claims(self) -> None:
        """Raise NotClaimed if a hello lacks what the case asks for."""

    def silent_members(self) -> Collection[Member]:
        """Return the clients for which a relay must be the witness."""

    def prepare(self) -> None:
        """Send plan and setup to every member, and wait until all are ready."""

    def go(self) -> None:
        """Record the plan and let the members begin at ``CaseRun.origin_ns``."""

    def await_end(self) -> None:
        """Wait until the members have done their work."""

    def catch_up(self) -> None:
        """Wait until the members have nothing to do any more, faults are over."""

    def drain_meanwhile(self) -> None:
        """Let the servers drain while the members are sampled at rest. What is left is awaited in ``read_back``."""

    def report_wire(self) -> None:
        """Add what the relays saw, once they are closed."""

    @property
    def due_ns(self) -> int:
        """Monotonic time before which ``read_back`` would only wait; 0 if it would not."""

    def read_back(self) -> None:
        """Read what the servers have stored, after everything has drained."""

    def signs_of_life_ns(self) -> Iterable[int]:
        """Return the monotonic times at which a client under test certainly ran: a stall then was the runner's own."""

    def is_stop_wanted(self, member: Member, from_ns: int, to_ns: int) -> bool:
        """Return True if the scenario keeps this member's process stopped at some time in an interval."""

    def guards(self) -> tuple[Guard, ...]:
        """Return the guards of this role."""

    def measured(self) -> dict[str, int | float]:
        """Return numbers for ``run.json``, with the unit in the name."""

    def operations(self) -> dict[Arm, int]:
        """Return how many operations each arm has ended."""
