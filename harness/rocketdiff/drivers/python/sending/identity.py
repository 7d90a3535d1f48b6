"""Our own message id, because not every client keeps its message id across retries."""

from rocketdiff.core.sends.message import padded
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.protocol.commands import SubjectSetup


def message_id(setup: SubjectSetup, topic: str, send: int) -> str:
    """Return ``<run>/<topic>/<send>``."""
    return f"{setup.run}/{topic}/{send}"


def body_of(identity: str, send: PlannedSend) -> bytes:
    """Return the id, padded to the planned size if it is shorter."""
    return padded(identity, send.body_bytes)
