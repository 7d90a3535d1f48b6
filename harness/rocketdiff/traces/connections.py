"""What a client had open at one moment, as ``run.json`` keeps it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionSample:
    """
    TCP connections of one client at ``at_ns`` of the monotonic clock; they stand until the next sample of the arm.

    held: how many it holds, by server (``broker-a``, ``broker-a vip``, ``name-server-1``); a server without any is left
    out. None where nobody could see. opened: those that no earlier sample saw, by server. is_at_rest: every send has
    ended and every fault is over.
    """

    at_ns: int
    held: dict[str, int] | None
    opened: dict[str, int]
    is_at_rest: bool = False
