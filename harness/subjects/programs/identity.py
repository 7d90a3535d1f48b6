"""How a message carries our own id: client ids are not stable across retries in every client."""

from harness.core.plan import PlannedSend
from harness.subjects.setup import SubjectSetup

ID_PROPERTY = "rocketdiff.id"
_PADDING = b"."


def message_id(setup: SubjectSetup, topic: str, send: int) -> str:
    """``<run>/<topic>/<send>``."""
    return f"{setup.run}/{topic}/{send}"


def body_of(identity: str, send: PlannedSend) -> bytes:
    """The id, padded to the planned size; the id alone where that is longer."""
    return identity.encode().ljust(send.body_bytes, _PADDING)
