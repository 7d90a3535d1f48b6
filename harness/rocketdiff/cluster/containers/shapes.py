"""
Which topologies containers can have, known before anything is started: an engine is not asked, and its client not imported.
"""

from enum import StrEnum

from rocketdiff.core.errors import UsageError
from rocketdiff.core.topology import Topology


class Wiring(StrEnum):
    """``--cluster containers`` and ``--cluster containers:host``."""

    BRIDGE = "bridge"
    HOST = "host"


def wiring_named(text: str) -> Wiring:
    """
    What follows ``containers:``, nothing being bridge.

    Raises UsageError for what is no wiring.
    """
    try:
        return Wiring(text) if text else Wiring.BRIDGE
    except ValueError as error:
        known = ", ".join(f"containers:{wiring}" for wiring in Wiring)
        raise UsageError("a known wiring of containers", seen=repr(text), hint=f"one of {known}") from error


def why_not(wiring: Wiring, topology: Topology) -> str | None:
    """What keeps a topology from working so, and what to do instead; None for nothing."""
    if wiring is Wiring.HOST or not topology.slaves_per_master:
        return None
    return (
        "a slave copies topics from the address that clients use, which is not its master's inside a container; "
        "use --cluster containers:host, or processes"
    )
