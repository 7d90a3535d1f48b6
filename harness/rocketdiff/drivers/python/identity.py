"""How a message carries our own id: client ids are not stable across retries in every client."""

from rocketdiff.core.sends.message import ID_PROPERTY, padded
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.protocol.commands import SubjectSetup

__all__ = ["ID_PROPERTY", "body_of", "message_id"]


def message_id(setup: SubjectSetup, topic: str, send: int) -> str:
    """``<run>/<topic>/<send>``."""
    return f"{setup.run}/{topic}/{send}"


def body_of(identity: str, send: PlannedSend) -> bytes:
    """The id, padded to the planned size; the id alone where that is longer."""
    return padded(identity, send.body_bytes)
