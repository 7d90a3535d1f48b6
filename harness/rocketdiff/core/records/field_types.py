"""
Types of the fields of records, with the limits that the codec enforces and the published schema states.

An integer fits its column in the tables of a run; a name is short and printable.
"""

from dataclasses import dataclass
from typing import Annotated

INT32, INT64 = 2**31, 2**63

UNREPORTED = {"unreported": True}
"""Metadata of a field that no subject reports; it is filled from the plan or other records when the arm is sealed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Limits of one field.

    below: an integer is in ``[-below, below)``; None for text.
    is_natural: never negative.
    is_filled: a text that may not be empty.
    is_error: a class name of an exception or one of the protocol's error words.
    name: what a message calls it; empty for the name of its field.
    """

    below: int | None = None
    is_natural: bool = False
    is_filled: bool = False
    is_error: bool = False
    name: str = ""


Int32 = Annotated[int, Limits(INT32)]
Natural32 = Annotated[int, Limits(INT32, is_natural=True)]
Int64 = Annotated[int, Limits(INT64)]
Natural64 = Annotated[int, Limits(INT64, is_natural=True)]
Name = Annotated[str, Limits()]
BrokerName = Annotated[str, Limits(is_filled=True)]
ErrorName = Annotated[str, Limits(is_error=True)]
FilledName = Annotated[str, Limits(is_filled=True)]
Queue = tuple[
    Annotated[str, Limits(is_filled=True, name="broker")],
    Annotated[int, Limits(INT32, is_natural=True, name="queue_id")],
]
"""A queue of a topic on the line: ``[broker, queue id]``."""

TopicQueue = tuple[
    Annotated[str, Limits(is_filled=True, name="topic")],
    Annotated[str, Limits(is_filled=True, name="broker")],
    Annotated[int, Limits(INT32, is_natural=True, name="queue_id")],
]
"""A queue of any topic: ``[topic, broker, queue id]``."""
